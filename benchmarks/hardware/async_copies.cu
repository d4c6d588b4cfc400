// Performs given asynchronous copies, one kernel launch each, for a profiler to count.
//
// usage: async_copies PATTERNS
//
// A line of PATTERNS is: bytes per lane (4, 8, 16), mask of active lanes (hex), 32 byte addresses
// in shared memory, 32 in global memory.  Each launch executes the copy once, in one warp.
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>

constexpr int SHARED_BYTES = 128 * 1024;
constexpr int GLOBAL_BYTES = 16 << 20;

#define CHECK(call)                                                                 \
  do {                                                                              \
    cudaError_t status = (call);                                                    \
    if (status != cudaSuccess) {                                                    \
      std::fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(status));          \
      std::exit(1);                                                                 \
    }                                                                               \
  } while (0)

template <int bytes> __device__ void copy(unsigned to, const char *from) {
  if constexpr (bytes == 4)
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(to), "l"(from) : "memory");
  if constexpr (bytes == 8)
    asm volatile("cp.async.ca.shared.global [%0], [%1], 8;" ::"r"(to), "l"(from) : "memory");
  if constexpr (bytes == 16)
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from) : "memory");
}

template <int bytes>
__global__ void run(const unsigned *to, const unsigned *from, unsigned mask, const char *data,
                    unsigned *out) {
  extern __shared__ uint4 memory[];
  unsigned base = static_cast<unsigned>(__cvta_generic_to_shared(memory));
  unsigned lane = threadIdx.x;
  unsigned target = base + to[lane];
  const char *source = data + from[lane];
  if (mask >> lane & 1) copy<bytes>(target, source);
  asm volatile("cp.async.commit_group;\ncp.async.wait_group 0;" ::: "memory");
  out[lane] = reinterpret_cast<unsigned *>(memory)[lane * 37];
}

using Kernel = void (*)(const unsigned *, const unsigned *, unsigned, const char *, unsigned *);

int main(int argc, char **argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: async_copies PATTERNS\n");
    return 2;
  }
  const std::map<int, Kernel> kernels = {{4, run<4>}, {8, run<8>}, {16, run<16>}};
  for (auto &[bytes, kernel] : kernels)
    CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, SHARED_BYTES));
  unsigned *to, *from, *out, host[2][32];
  char *data;
  CHECK(cudaMalloc(&to, sizeof host[0]));
  CHECK(cudaMalloc(&from, sizeof host[1]));
  CHECK(cudaMalloc(&out, sizeof host[0]));
  CHECK(cudaMalloc(&data, GLOBAL_BYTES));
  std::ifstream file(argv[1]);
  int bytes;
  unsigned mask;
  while (file >> bytes >> std::hex >> mask >> std::dec) {
    for (auto &side : host)
      for (unsigned &address : side) file >> address;
    CHECK(cudaMemcpy(to, host[0], sizeof host[0], cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(from, host[1], sizeof host[1], cudaMemcpyHostToDevice));
    kernels.at(bytes)<<<1, 32, SHARED_BYTES>>>(to, from, mask, data, out);
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
  }
  return 0;
}
