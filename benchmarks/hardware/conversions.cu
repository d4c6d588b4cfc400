// Launches compiled conversions once each, for a profiler to count, and checks their results.
//
// usage: conversions DIR
//
// A line of DIR/kernels.txt is: cubin, threads, bytes of shared memory, elements, bytes of an
// element.  The kernel `convert` copies a tensor, and so must leave what it was given.
#include <cuda.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#define CHECK(call)                                                                 \
  do {                                                                              \
    CUresult status = (call);                                                       \
    if (status != CUDA_SUCCESS) {                                                   \
      const char *words = "?";                                                      \
      cuGetErrorString(status, &words);                                             \
      std::fprintf(stderr, "%s: %s\n", #call, words);                               \
      std::exit(1);                                                                 \
    }                                                                               \
  } while (0)

constexpr int OWN_SHARED = 48 * 1024;  // more must be asked for

int main(int argc, char **argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: conversions DIR\n");
    return 2;
  }
  CUdevice device;
  CUcontext context;
  CHECK(cuInit(0));
  CHECK(cuDeviceGet(&device, 0));
  CHECK(cuDevicePrimaryCtxRetain(&context, device));
  CHECK(cuCtxSetCurrent(context));
  const std::string folder = argv[1];
  std::ifstream kernels(folder + "/kernels.txt");
  std::string name;
  int threads, shared, elements, size, wrong = 0, count = 0;
  while (kernels >> name >> threads >> shared >> elements >> size) {
    CUmodule module;
    CUfunction function;
    CHECK(cuModuleLoad(&module, (folder + "/" + name).c_str()));
    CHECK(cuModuleGetFunction(&function, module, "convert"));
    if (shared > OWN_SHARED)
      CHECK(cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, shared));
    const size_t bytes = static_cast<size_t>(elements) * size;
    std::vector<unsigned char> given(bytes), found(bytes);
    for (long long i = 0; i < elements; ++i) std::memcpy(&given[i * size], &i, size);
    CUdeviceptr in, out, scratch[2] = {0, 0};  // the last two are the compiler's own, unused here
    CHECK(cuMemAlloc(&in, bytes));
    CHECK(cuMemAlloc(&out, bytes));
    CHECK(cuMemcpyHtoD(in, given.data(), bytes));
    CHECK(cuMemsetD8(out, 0xff, bytes));
    void *arguments[] = {&in, &out, &scratch[0], &scratch[1]};
    CHECK(cuLaunchKernel(function, 1, 1, 1, threads, 1, 1, shared, nullptr, arguments, nullptr));
    CHECK(cuCtxSynchronize());
    CHECK(cuMemcpyDtoH(found.data(), out, bytes));
    ++count;
    if (found != given) {
      std::fprintf(stderr, "%s: wrong result\n", name.c_str());
      ++wrong;
    }
    CHECK(cuMemFree(in));
    CHECK(cuMemFree(out));
    CHECK(cuModuleUnload(module));
  }
  std::fprintf(stderr, "%d conversions, %d of them wrong\n", count, wrong);
  return wrong != 0;
}
