/// The mark of the classes and functions that libxgbgpu.so exports.
#ifndef XGBGPU_API_H_
#define XGBGPU_API_H_

/// Marks a class (before its name) or a function (first) that programs use from libxgbgpu.so. The engine is compiled
/// with hidden symbols, so names without the mark stay inside. docs/adr/0029-two-libraries.md
#define XGBGPU_API __attribute__((visibility("default")))

#endif  // XGBGPU_API_H_
