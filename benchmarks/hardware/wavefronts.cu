// Performs given shared-memory accesses, one kernel launch each, for a profiler to count.
//
// usage: wavefronts PATTERNS
//
// A line of PATTERNS is: kind, mask of active lanes (hex), 32 byte addresses.
// Kinds: ld4 ld8 ld16 st4 st8 st16, ldm1 ldm2 ldm4 (ldmatrix), stm1 stm2 stm4 (stmatrix).
// Each launch executes the access once, in one warp.
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <map>
#include <string>

constexpr int BYTES = 48 * 1024;

#define CHECK(call)                                                                 \
  do {                                                                              \
    cudaError_t status = (call);                                                    \
    if (status != cudaSuccess) {                                                    \
      std::fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(status));          \
      std::exit(1);                                                                 \
    }                                                                               \
  } while (0)

enum Kind { LD4, LD8, LD16, ST4, ST8, ST16, LDM1, LDM2, LDM4, STM1, STM2, STM4 };

template <Kind kind> __device__ void access(unsigned at, unsigned (&r)[4]) {
  if constexpr (kind == LD4)
    asm volatile("ld.shared.b32 %0, [%1];" : "=r"(r[0]) : "r"(at) : "memory");
  if constexpr (kind == LD8)
    asm volatile("ld.shared.v2.b32 {%0, %1}, [%2];" : "=r"(r[0]), "=r"(r[1]) : "r"(at) : "memory");
  if constexpr (kind == LD16)
    asm volatile("ld.shared.v4.b32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(at) : "memory");
  if constexpr (kind == ST4)
    asm volatile("st.shared.b32 [%0], %1;" :: "r"(at), "r"(r[0]) : "memory");
  if constexpr (kind == ST8)
    asm volatile("st.shared.v2.b32 [%0], {%1, %2};" :: "r"(at), "r"(r[0]), "r"(r[1]) : "memory");
  if constexpr (kind == ST16)
    asm volatile("st.shared.v4.b32 [%0], {%1, %2, %3, %4};"
                 :: "r"(at), "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3]) : "memory");
  if constexpr (kind == LDM1)
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];"
                 : "=r"(r[0]) : "r"(at) : "memory");
  if constexpr (kind == LDM2)
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];"
                 : "=r"(r[0]), "=r"(r[1]) : "r"(at) : "memory");
  if constexpr (kind == LDM4)
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(at) : "memory");
  if constexpr (kind == STM1)
    asm volatile("stmatrix.sync.aligned.m8n8.x1.shared.b16 [%0], {%1};"
                 :: "r"(at), "r"(r[0]) : "memory");
  if constexpr (kind == STM2)
    asm volatile("stmatrix.sync.aligned.m8n8.x2.shared.b16 [%0], {%1, %2};"
                 :: "r"(at), "r"(r[0]), "r"(r[1]) : "memory");
  if constexpr (kind == STM4)
    asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};"
                 :: "r"(at), "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3]) : "memory");
}

template <Kind kind>
__global__ void run(const unsigned *addresses, unsigned mask, unsigned *out) {
  extern __shared__ uint4 memory[];
  unsigned base = static_cast<unsigned>(__cvta_generic_to_shared(memory));
  unsigned lane = threadIdx.x;
  unsigned r[4] = {lane, lane + 1, lane + 2, lane + 3};
  unsigned at = base + addresses[lane];
  if (mask >> lane & 1) access<kind>(at, r);
  out[lane] = r[0] ^ r[1] ^ r[2] ^ r[3];
}

using Kernel = void (*)(const unsigned *, unsigned, unsigned *);

int main(int argc, char **argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: wavefronts PATTERNS\n");
    return 2;
  }
  const std::map<std::string, Kernel> kernels = {
      {"ld4", run<LD4>},   {"ld8", run<LD8>},   {"ld16", run<LD16>}, {"st4", run<ST4>},
      {"st8", run<ST8>},   {"st16", run<ST16>}, {"ldm1", run<LDM1>}, {"ldm2", run<LDM2>},
      {"ldm4", run<LDM4>}, {"stm1", run<STM1>}, {"stm2", run<STM2>}, {"stm4", run<STM4>}};
  unsigned *addresses, *out, host[32];
  CHECK(cudaMalloc(&addresses, sizeof host));
  CHECK(cudaMalloc(&out, sizeof host));
  std::ifstream file(argv[1]);
  std::string kind;
  unsigned mask;
  while (file >> kind >> std::hex >> mask >> std::dec) {
    for (unsigned &address : host) file >> address;
    CHECK(cudaMemcpy(addresses, host, sizeof host, cudaMemcpyHostToDevice));
    kernels.at(kind)<<<1, 32, BYTES>>>(addresses, mask, out);
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
  }
  return 0;
}
