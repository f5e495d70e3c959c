/// The mark of what libxgbgpu.so shows to others.
#ifndef XGBGPU_API_H_
#define XGBGPU_API_H_

/// Stands before the name of a class, or before a function, that programs call in libxgbgpu.so. The engine is compiled
/// with hidden symbols: names without the mark stay inside. docs/adr/0029-two-libraries.md
#define XGBGPU_API __attribute__((visibility("default")))

#endif  // XGBGPU_API_H_
