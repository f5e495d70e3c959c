/* Loads libxgboost_gpu.so, and redirects the XGBoost calls of the package xgboost to it.
 *
 * A library calls a function of another library through a slot, a pointer that the loader fills. Here the slots of
 * XGBoost's functions get functions of libxgboost_gpu.so, or of the libxgboost that it is linked to. So neither the
 * order of loading matters, nor whether xgboost contains a copy of XGBoost. */
#define _GNU_SOURCE
#include <R.h>
#include <R_ext/Rdynload.h>
#include <Rinternals.h>
#include <dlfcn.h>
#include <link.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

typedef char const* TellFunction(void);
typedef int LogFunction(void (*)(char const*));

static void* library; /* libxgboost_gpu.so; null: not loaded */

/* The functions of dlsym that are called here. ISO C has no cast from a pointer to an object. */
typedef union {
  void* found;
  TellFunction* tell;
  LogFunction* log;
} Function;

static char const* FileName(SEXP path) { return Rf_translateChar(STRING_ELT(path, 0)); }

/* Returns "", or the reason why the loader does not load it. */
static SEXP Load(SEXP path) {
  library = dlopen(FileName(path), RTLD_NOW | RTLD_LOCAL);
  return Rf_mkString(library == NULL ? dlerror() : "");
}

/* Returns what a function of xgboost_gpu.h tells: JSON. */
static SEXP Tell(SEXP name) {
  Function function;
  function.found = dlsym(library, CHAR(STRING_ELT(name, 0)));
  if (function.found == NULL) Rf_error("xgboostgpu: the library has no function %s", CHAR(STRING_ELT(name, 0)));
  return Rf_ScalarString(Rf_mkCharCE(function.tell(), CE_UTF8));
}

/* Writes a slot, which is read-only where the library was linked with -z now. */
static int Write(ElfW(Addr) slot, void* function) {
  uintptr_t const page = slot & ~((uintptr_t)sysconf(_SC_PAGESIZE) - 1);
  if (mprotect((void*)page, slot + sizeof function - page, PROT_READ | PROT_WRITE) != 0) return 0;
  __atomic_store_n((void**)slot, function, __ATOMIC_RELAXED);
  return 1;
}

/* Writes the slots of XGBoost's functions in a library. Returns whether one of them is a function that trains. */
static int WriteSlots(struct link_map const* image) {
  ElfW(Rela) const* relocation = NULL;
  ElfW(Sym) const* symbols = NULL;
  char const* names = NULL;
  size_t bytes = 0;
  int trains = 0;
  for (ElfW(Dyn) const* entry = image->l_ld; entry->d_tag != DT_NULL; ++entry) {
    if (entry->d_tag == DT_JMPREL) relocation = (ElfW(Rela) const*)entry->d_un.d_ptr;
    if (entry->d_tag == DT_SYMTAB) symbols = (ElfW(Sym) const*)entry->d_un.d_ptr;
    if (entry->d_tag == DT_STRTAB) names = (char const*)entry->d_un.d_ptr;
    if (entry->d_tag == DT_PLTRELSZ) bytes = entry->d_un.d_val;
  }
  for (size_t i = 0; relocation != NULL && i < bytes / sizeof *relocation; ++i) {
    char const* const name = names + symbols[ELF64_R_SYM(relocation[i].r_info)].st_name;
    void* const function = strncmp(name, "XG", 2) == 0 ? dlsym(library, name) : NULL;
    if (function == NULL) continue;
    if (!Write(image->l_addr + relocation[i].r_offset, function)) return 0;
    if (strcmp(name, "XGBoosterUpdateOneIter") == 0) trains = 1;
  }
  return trains;
}

/* XGBoost's messages: without a callback they go past R to the standard error. XGBoost calls it on this thread alone. */
static void Print(char const* message) { Rprintf("%s\n", message); }

static SEXP Bind(SEXP path) {
  struct link_map* image = NULL;
  void* const handle = dlopen(FileName(path), RTLD_LAZY | RTLD_NOLOAD);
  if (handle == NULL || dlinfo(handle, RTLD_DI_LINKMAP, &image) != 0) {
    Rf_error("xgboostgpu: '%s' is not a library of this process", FileName(path));
  }
  int const is_bound = WriteSlots(image);
  dlclose(handle);
  if (!is_bound) {
    Rf_error(
        "xgboostgpu cannot stand in front of the functions of '%s', which calls its own directly; allowed: a package "
        "xgboost that was linked without -Bsymbolic and -Bsymbolic-functions",
        FileName(path));
  }
  Function callback;
  callback.found = dlsym(library, "XGBRegisterLogCallback");
  if (callback.found != NULL) callback.log(Print);
  return R_NilValue;
}

static R_CallMethodDef const kFunctions[] = {
    {"C_load", (DL_FUNC)&Load, 1}, {"C_tell", (DL_FUNC)&Tell, 1}, {"C_bind", (DL_FUNC)&Bind, 1}, {NULL, NULL, 0}};

void R_init_xgboostgpu(DllInfo* info) {
  R_registerRoutines(info, NULL, kFunctions, NULL, NULL);
  R_useDynamicSymbols(info, FALSE);
}
