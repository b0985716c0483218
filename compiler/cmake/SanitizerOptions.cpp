// Default options of the sanitizers for programs built with INGOT_SANITIZE.
//
// An error ends the program by SIGABRT: the exit code of AddressSanitizer would
// be 1, which means that the model is at fault. LLVM's archives are not
// instrumented, so memory that they share with Ingot's code cannot be poisoned
// by hand. Leaks are ignored, because programs end without freeing the context.

extern "C" const char *__asan_default_options();
extern "C" const char *__ubsan_default_options();

const char *__asan_default_options() {
  return "abort_on_error=1:allow_user_poisoning=0:"
         "detect_container_overflow=0:detect_leaks=0";
}

const char *__ubsan_default_options() {
  return "abort_on_error=1:halt_on_error=1:print_stacktrace=1";
}
