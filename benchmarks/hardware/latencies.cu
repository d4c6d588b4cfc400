// What one program waits for, and what a multiprocessor attains, by instructions of one kind alone.
//
// nvcc -gencode=arch=compute_90a,code=sm_90a -o latencies latencies.cu && ./latencies > latencies.jsonl
//
// A line for each: `what`, `cycles` (of an iteration, of a warp's instruction on its scheduler, or of
// one of all warps on a multiprocessor: stores),
// `rate` (bytes a cycle and multiprocessor, or TB/s).
#include <algorithm>
#include <cstdio>
#include <cuda_runtime.h>
#include <vector>

#define CHECK(call)                                                                      \
  do {                                                                                   \
    cudaError_t error = call;                                                            \
    if (error != cudaSuccess) {                                                          \
      fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(error));                     \
      return 1;                                                                          \
    }                                                                                    \
  } while (0)

typedef unsigned long long u64;

__device__ __forceinline__ unsigned shared_address(const void *at) {
  return (unsigned)__cvta_generic_to_shared(at);
}

__device__ __forceinline__ u64 descriptor(unsigned address) {
  return (u64)((address & 0x3FFFF) >> 4) | (u64)1 << 16 | (u64)(1024 >> 4) << 32 | (u64)1 << 62;
}

__device__ __forceinline__ void multiply(float (&c)[32], u64 a, u64 b) {
  asm volatile(
      "wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 "
      "{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,"
      "%24,%25,%26,%27,%28,%29,%30,%31}, %32, %33, 1, 1, 1, 0, 0;"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]), "+f"(c[4]), "+f"(c[5]), "+f"(c[6]),
        "+f"(c[7]), "+f"(c[8]), "+f"(c[9]), "+f"(c[10]), "+f"(c[11]), "+f"(c[12]), "+f"(c[13]),
        "+f"(c[14]), "+f"(c[15]), "+f"(c[16]), "+f"(c[17]), "+f"(c[18]), "+f"(c[19]), "+f"(c[20]),
        "+f"(c[21]), "+f"(c[22]), "+f"(c[23]), "+f"(c[24]), "+f"(c[25]), "+f"(c[26]), "+f"(c[27]),
        "+f"(c[28]), "+f"(c[29]), "+f"(c[30]), "+f"(c[31])
      : "l"(a), "l"(b));
}

// A warp group stores to shared memory, fences, meets at a barrier and multiplies, or leaves some out.
template <int STORES, int FENCES, int PRODUCTS>
__global__ void iterate(long long *cycles, float *out, int iterations) {
  extern __shared__ __align__(1024) char memory[];
  unsigned base = shared_address(memory), at = base + 16 * threadIdx.x;
  float c[32] = {};
  u64 a = descriptor(base), b = descriptor(base + 16384);
  __syncthreads();
  long long begin = clock64();
#pragma unroll 1
  for (int i = 0; i < iterations; ++i) {
#pragma unroll
    for (int j = 0; j < STORES; ++j)
      asm volatile("st.shared.v4.u32 [%0], {%1,%1,%1,%1};" ::"r"(at + 2048 * j), "r"(0) : "memory");
    if (FENCES) asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    asm volatile("bar.sync 0;" ::: "memory");
    if (PRODUCTS) {
      asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
      for (int j = 0; j < PRODUCTS; ++j) multiply(c, a, b);
      asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
      asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
#pragma unroll
      for (int j = 0; j < 32; ++j) asm volatile("" : "+f"(c[j])::"memory");
    }
  }
  long long end = clock64();
  if (threadIdx.x == 0) cycles[0] = end - begin;
  float sum = 0;
  for (int j = 0; j < 32; ++j) sum += c[j];
  if (sum == 12345.f) out[threadIdx.x] = sum;
}

// Every thread writes words of its own to local memory and reads them back, as spills do.
template <int WORDS>
__global__ void spill(long long *cycles, float *out, int iterations) {
  volatile float kept[WORDS];
  float x = threadIdx.x;
  __syncthreads();
  long long begin = clock64();
#pragma unroll 1
  for (int i = 0; i < iterations; ++i) {
#pragma unroll 8
    for (int j = 0; j < WORDS; ++j) kept[j] = x + j;
    float sum = 0;
#pragma unroll 8
    for (int j = 0; j < WORDS; ++j) sum += kept[j];
    x += sum;
  }
  __syncthreads();
  long long end = clock64();
  if (threadIdx.x == 0) cycles[blockIdx.x] = end - begin;
  out[blockIdx.x * blockDim.x + threadIdx.x] = x;
}

// Instructions of one kind, eight of them side by side in each of the warps of a multiprocessor.
#define INSTRUCTION(name, text)                                                          \
  __global__ void name(long long *cycles, float *out, int iterations) {                  \
    unsigned v[8], w = threadIdx.x;                                                      \
    for (int j = 0; j < 8; ++j) v[j] = threadIdx.x * (j + 3);                            \
    __syncthreads();                                                                     \
    long long begin = clock64();                                                         \
    _Pragma("unroll 1") for (int i = 0; i < iterations; ++i) {                           \
      _Pragma("unroll") for (int k = 0; k < 4; ++k)                                      \
      _Pragma("unroll") for (int j = 0; j < 8; ++j)                                      \
        asm volatile(text : "+r"(v[j]) : "r"(w));                                        \
    }                                                                                    \
    __syncthreads();                                                                     \
    long long end = clock64();                                                           \
    if (threadIdx.x == 0) cycles[blockIdx.x] = end - begin;                              \
    unsigned sum = 0;                                                                    \
    for (int j = 0; j < 8; ++j) sum += v[j];                                             \
    if (sum == 12345u) out[threadIdx.x] = sum;                                           \
  }

INSTRUCTION(mul_hi, "mul.hi.u32 %0, %0, %1;")
INSTRUCTION(mul_lo, "mul.lo.u32 %0, %0, %1;")
INSTRUCTION(mul_wide, "{.reg .u64 d; .reg .u32 l, h; mul.wide.u32 d, %0, %1; mov.b64 {l, h}, d; xor.b32 %0, l, h;}")
INSTRUCTION(s8_f32, "{.reg .f32 f; cvt.rn.f32.s8 f, %0; mov.b32 %0, f;}")
INSTRUCTION(s16_f16, "{.reg .b16 h, g; .reg .b16 f; mov.b32 {h, g}, %0; cvt.rn.f16.s16 f, h; mov.b32 %0, {f, g};}")
INSTRUCTION(f16_f32, "{.reg .b16 h, g; .reg .f32 f; mov.b32 {h, g}, %0; cvt.f32.f16 f, h; mov.b32 %0, f;}")
INSTRUCTION(bf16_f32, "{.reg .b16 h, g; .reg .f32 f; mov.b32 {h, g}, %0; cvt.f32.bf16 f, h; mov.b32 %0, f;}")
INSTRUCTION(mul_f32, "{.reg .f32 f, g; mov.b32 f, %0; mov.b32 g, %1; mul.f32 f, f, g; mov.b32 %0, f;}")

// Rows of a matrix of bytes, a segment of each at a time, as a product reads its operands.
__global__ void segments(const uint4 *in, uint4 *out, int vectors, int pitch, int rows) {
  int lane = threadIdx.x % vectors, row = threadIdx.x / vectors, step = blockDim.x / vectors;
  const uint4 *first = in + (size_t)blockIdx.x * rows * pitch;
  uint4 sum = {};
  for (int k = 0; k < pitch; k += vectors) {
#pragma unroll 4
    for (int r = row; r < rows; r += step) {
      uint4 x = __ldcg(first + (size_t)r * pitch + k + lane);
      sum.x ^= x.x, sum.y ^= x.y, sum.z ^= x.z, sum.w ^= x.w;
    }
  }
  if (sum.x == 12345u) out[threadIdx.x] = sum;
}

// Stores of words: the lanes of a warp in rows of a tile, which later stores fill to their ends.
__global__ void scattered(long long *cycles, unsigned *tiles, int lanes, int iterations) {
  const int pitch = 128;  // words
  int warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  unsigned *row = tiles + (size_t)warp * 32 * pitch + lane / lanes * pitch + lane % lanes;
  __syncthreads();
  long long begin = clock64();
  for (int i = 0; i < iterations; ++i)
#pragma unroll 8
    for (int word = 0; word < pitch; word += lanes) row[word] = i;
  __syncthreads();
  if (!threadIdx.x) cycles[blockIdx.x] = clock64() - begin;
}

static long long *cycles;
static float *out;

static double middle(int blocks) {
  std::vector<long long> found(blocks);
  cudaMemcpy(found.data(), cycles, blocks * sizeof(long long), cudaMemcpyDeviceToHost);
  std::sort(found.begin(), found.end());
  return (double)found[blocks / 2];
}

template <class Kernel>
static int one(const char *what, Kernel kernel) {
  const int iterations = 2000, bytes = 65536;
  CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
  for (int run = 0; run < 2; ++run) kernel<<<1, 128, bytes>>>(cycles, out, iterations);
  CHECK(cudaDeviceSynchronize());
  printf("{\"what\": \"%s\", \"cycles\": %.2f}\n", what, middle(1) / iterations);
  return 0;
}

template <class Kernel>
static int moved(Kernel kernel, int words, int threads, int blocks) {
  const int iterations = 65536 / words;
  for (int run = 0; run < 2; ++run) kernel<<<blocks, threads>>>(cycles, out, iterations);
  CHECK(cudaDeviceSynchronize());
  double took = middle(blocks), bytes = 8.0 * words * threads * iterations;
  printf("{\"what\": \"spilled words\", \"words\": %d, \"threads\": %d, \"blocks\": %d, \"rate\": %.2f}\n",
         words, threads, blocks, bytes / took);
  return 0;
}

template <class Kernel>
static int issued(const char *what, Kernel kernel) {
  const int iterations = 1000;
  for (int run = 0; run < 2; ++run) kernel<<<132, 1024>>>(cycles, out, iterations);
  CHECK(cudaDeviceSynchronize());
  printf("{\"what\": \"%s\", \"cycles\": %.3f}\n", what, middle(132) / iterations / 32 / 8);
  return 0;
}

static int rows_of(int vectors, int rows) {
  const int pitch = 256;
  const size_t bytes = (size_t)2 << 30;
  int blocks = (int)(bytes / 16 / pitch / rows);
  uint4 *in;
  CHECK(cudaMalloc(&in, bytes));
  CHECK(cudaMemset(in, 0, bytes));
  cudaEvent_t begin, end;
  CHECK(cudaEventCreate(&begin));
  CHECK(cudaEventCreate(&end));
  float best = 1e30f;
  for (int run = 0; run < 5; ++run) {
    CHECK(cudaEventRecord(begin));
    segments<<<blocks, 256>>>(in, (uint4 *)out, vectors, pitch, rows);
    CHECK(cudaEventRecord(end));
    CHECK(cudaEventSynchronize(end));
    float took;
    CHECK(cudaEventElapsedTime(&took, begin, end));
    best = std::min(best, took);
  }
  CHECK(cudaFree(in));
  printf("{\"what\": \"rows of %d bytes at a time, %d of them\", \"rate\": %.3f}\n", 16 * vectors, rows,
         bytes / best / 1e9);
  return 0;
}

static int stored(int lanes, int threads) {
  const int iterations = 64 * lanes, blocks = 132;
  unsigned *tiles;
  CHECK(cudaMalloc(&tiles, (size_t)blocks * threads * 128 * 4));
  for (int run = 0; run < 2; ++run)
    scattered<<<blocks, threads>>>(cycles, tiles, lanes, iterations);
  CHECK(cudaDeviceSynchronize());
  double took = middle(blocks), instructions = 128.0 / lanes * iterations * threads / 32;
  printf("{\"what\": \"stores of words, %d in a row, %d threads\", \"cycles\": %.2f}\n", lanes, threads,
         took / instructions);
  CHECK(cudaFree(tiles));
  return 0;
}

int main() {
  cudaDeviceProp card;
  CHECK(cudaGetDeviceProperties(&card, 0));
  printf("{\"what\": \"%s\"}\n", card.name);
  CHECK(cudaMalloc(&cycles, 8 * 4096));
  CHECK(cudaMalloc(&out, 4 * 1024 * 4096));
  int bad = 0;
  bad |= one("barrier of 4 warps", iterate<0, 0, 0>);
  bad |= one("fence, barrier", iterate<0, 1, 0>);
  bad |= one("store, barrier", iterate<1, 0, 0>);
  bad |= one("store, fence, barrier", iterate<1, 1, 0>);
  bad |= one("8 stores, barrier", iterate<8, 0, 0>);
  bad |= one("8 stores, fence, barrier", iterate<8, 1, 0>);
  bad |= one("barrier, product", iterate<0, 0, 1>);
  bad |= one("barrier, 4 products", iterate<0, 0, 4>);
  bad |= one("barrier, 8 products", iterate<0, 0, 8>);
  bad |= one("store, barrier, 4 products", iterate<1, 0, 4>);
  bad |= one("store, fence, barrier, 4 products", iterate<1, 1, 4>);
  bad |= one("8 stores, barrier, 4 products", iterate<8, 0, 4>);
  bad |= one("8 stores, fence, barrier, 4 products", iterate<8, 1, 4>);
  for (int threads : {128, 512, 1024}) {
    bad |= moved(spill<8>, 8, threads, 132);
    bad |= moved(spill<32>, 32, threads, 132);
    bad |= moved(spill<64>, 64, threads, 132);
    bad |= moved(spill<256>, 256, threads, 132);
    bad |= moved(spill<1024>, 1024, threads, 132);
    bad |= moved(spill<2048>, 2048, threads, 132);
  }
  bad |= moved(spill<1024>, 1024, 1024, 1);
  bad |= issued("mul.f32", mul_f32);
  bad |= issued("mul.lo.u32", mul_lo);
  bad |= issued("mul.hi.u32", mul_hi);
  bad |= issued("mul.wide.u32, xor.b32", mul_wide);
  bad |= issued("cvt.rn.f32.s8", s8_f32);
  bad |= issued("cvt.rn.f16.s16", s16_f16);
  bad |= issued("cvt.f32.f16", f16_f32);
  bad |= issued("cvt.f32.bf16", bf16_f32);
  for (int vectors : {2, 4, 8, 16, 64})
    for (int rows : {32, 128}) bad |= rows_of(vectors, rows);
  for (int lanes : {1, 2, 4, 8, 32})
    for (int threads : {128, 512}) bad |= stored(lanes, threads);
  return bad;
}
