/* What holds a training loop back: data, launches, waiting, copies or the device?
 *
 *     nvcc -O2 -I. examples/cuda/training.cu -o training && ./training
 *     ./training --slow-data            the loader takes 20 ms a batch
 *     ./training --sync                 the loss is read back after every step
 *
 * A model of two matrices, trained on batches that a loader makes.  You will see the report with host and
 * device times of each phase (data, to device, forward, backward, optimizer), the memory of each phase
 * (what it added, what was in use, the peak), and one line that says what the loop is bound by and the
 * numbers that say so: device as it is, waiting for data with --slow-data, syncs with --sync where
 * steps are short.  training.json (ui.perfetto.dev) has host and device on one time line.
 * Exit status: 77 without a CUDA device, 1 when a call fails.                                     */
#include "perf_cuda.h"

#include <stdio.h>
#include <string.h>
#include <thread>
#include <chrono>

enum { BATCH = 256, WIDTH = 1024, STEPS = 40 };

/* c = a b, or a^T b, or a b^T; WIDTH columns, a multiple of 16 rows. */
enum how { PLAIN, A_TURNED, B_TURNED };
template <how How> __global__ void multiply(float *c, const float *a, const float *b, int inner)
{
    __shared__ float ta[16][17], tb[16][17];
    int              row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
    float            sum = 0;

    for (int k = 0; k < inner; k += 16) {
        ta[threadIdx.y][threadIdx.x] = How == A_TURNED ? a[(k + threadIdx.x) * WIDTH + row]
                                                       : a[row * inner + k + threadIdx.x];
        tb[threadIdx.y][threadIdx.x] = How == B_TURNED ? b[column * WIDTH + k + threadIdx.y]
                                                       : b[(k + threadIdx.y) * WIDTH + column];
        __syncthreads();
        for (int i = 0; i < 16; i++)
            sum += ta[threadIdx.y][i] * tb[i][threadIdx.x];
        __syncthreads();
    }
    c[row * WIDTH + column] = sum;
}

__global__ void relu(float *x)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    x[i] = x[i] > 0 ? x[i] : 0;
}

__global__ void relu_back(float *dx, const float *x)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    dx[i] = x[i] > 0 ? dx[i] : 0;
}

/* Half of the squared difference, and its derivative. */
__global__ void loss_of(float *loss, float *d, const float *y, const float *want)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    d[i] = (y[i] - want[i]) / (BATCH * WIDTH);
    atomicAdd(loss, 0.5f * d[i] * (y[i] - want[i]));
}

__global__ void descend(float *w, float *moment, const float *grad)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    moment[i] = 0.9f * moment[i] + grad[i];
    w[i] -= 0.1f * moment[i];
}

struct model {
    float *x, *want, *w[2], *hidden, *y, *loss;         /* forward                                */
    float *dy, *dhidden, *grad[2], *moment[2];
    bool   ok;
};

static float *take(model *m, size_t floats)
{
    void *p = NULL;

    if (cudaMalloc(&p, floats * sizeof(float)) != cudaSuccess ||
        cudaMemset(p, 0, floats * sizeof(float)) != cudaSuccess)
        m->ok = false;
    return static_cast<float *>(p);
}

/* The next batch: noise that the model has to reproduce. */
static void load(float *host, unsigned *seed, bool slow)
{
    PERF_WAIT("data");                          /* counts as waiting for data                     */
    for (int i = 0; i < BATCH * WIDTH; i += 16) {
        *seed = *seed * 1664525u + 1013904223u;
        for (int j = 0; j < 16; j++)
            host[i + j] = static_cast<float>((*seed >> j) & 255) / 256.0f;
    }
    if (slow)
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
}

static void step(const model &m, cudaStream_t stream, const float *host, bool first)
{
    const dim3 block(16, 16), rows(WIDTH / 16, BATCH / 16), square(WIDTH / 16, WIDTH / 16);
    const int  batch = BATCH * WIDTH / 256, weights = WIDTH * WIDTH / 256;

    PERF_SCOPE("step");
    {
        PERF_GPU_COPY_IN("to device", stream);
        cudaMemcpyAsync(m.x, host, sizeof(float) * BATCH * WIDTH, cudaMemcpyHostToDevice, stream);
    }
    {
        PERF_GPU_COPY("targets", stream);
        cudaMemcpyAsync(m.want, m.x, sizeof(float) * BATCH * WIDTH, cudaMemcpyDeviceToDevice, stream);
    }
    {
        PERF_GPU_SCOPE("forward", stream);
        cudaMemsetAsync(m.loss, 0, sizeof(float), stream);
        multiply<PLAIN><<<rows, block, 0, stream>>>(m.hidden, m.x, m.w[0], WIDTH);
        relu<<<batch, 256, 0, stream>>>(m.hidden);
        multiply<PLAIN><<<rows, block, 0, stream>>>(m.y, m.hidden, m.w[1], WIDTH);
        loss_of<<<batch, 256, 0, stream>>>(m.loss, m.dy, m.y, m.want);
    }
    if (first)
        (void)perf_gpu_memory_mark("forward");
    {
        PERF_GPU_SCOPE("backward", stream);
        multiply<A_TURNED><<<square, block, 0, stream>>>(m.grad[1], m.hidden, m.dy, BATCH);
        multiply<B_TURNED><<<rows, block, 0, stream>>>(m.dhidden, m.dy, m.w[1], WIDTH);
        relu_back<<<batch, 256, 0, stream>>>(m.dhidden, m.hidden);
        multiply<A_TURNED><<<square, block, 0, stream>>>(m.grad[0], m.x, m.dhidden, BATCH);
    }
    if (first)
        (void)perf_gpu_memory_mark("backward");
    {
        PERF_GPU_SCOPE("optimizer", stream);
        for (int i = 0; i < 2; i++)
            descend<<<weights, 256, 0, stream>>>(m.w[i], m.moment[i], m.grad[i]);
    }
    if (first)
        (void)perf_gpu_memory_mark("optimizer");
}

int main(int argc, char **argv)
{
    const bool   slow = argc > 1 && strcmp(argv[1], "--slow-data") == 0;
    const bool   sync = argc > 1 && strcmp(argv[1], "--sync") == 0;
    const size_t batch = BATCH * WIDTH, weights = WIDTH * WIDTH;
    int          devices = 0;
    float       *host[2] = {NULL, NULL}, loss = 0, first_loss = 0;
    unsigned     seed = 1;
    cudaEvent_t  copied[2];
    cudaStream_t stream;
    model        m = model();

    if (cudaGetDeviceCount(&devices) != cudaSuccess || devices < 1) {
        printf("no CUDA device: nothing to train on\n");
        return 77;
    }
    m.ok = cudaStreamCreate(&stream) == cudaSuccess;
    for (int i = 0; i < 2; i++)
        m.ok = m.ok && cudaMallocHost(&host[i], batch * sizeof(float)) == cudaSuccess &&
               cudaEventCreateWithFlags(&copied[i], cudaEventDisableTiming) == cudaSuccess;
    (void)perf_gpu_memory_mark("start");
    for (int i = 0; i < 2; i++)
        m.w[i] = take(&m, weights);
    (void)perf_gpu_memory_mark("weights");
    m.x = take(&m, batch), m.want = take(&m, batch), m.hidden = take(&m, batch);
    m.y = take(&m, batch), m.loss = take(&m, 1), m.dy = take(&m, batch);
    m.dhidden = take(&m, batch);
    (void)perf_gpu_memory_mark("activations");
    for (int i = 0; i < 2; i++)
        m.grad[i] = take(&m, weights), m.moment[i] = take(&m, weights);
    (void)perf_gpu_memory_mark("optimizer state");
    if (!m.ok) {
        printf("set-up: %s\n", cudaGetErrorString(cudaGetLastError()));
        return 1;
    }
    {                                           /* weights that do something: a diagonal          */
        float *w = static_cast<float *>(calloc(weights, sizeof *w));
        if (!w)
            return 1;
        for (int i = 0; i < WIDTH; i++)
            w[i * WIDTH + i] = 0.5f;
        for (int i = 0; i < 2; i++)
            m.ok = m.ok && cudaMemcpy(m.w[i], w, weights * sizeof *w, cudaMemcpyHostToDevice) ==
                               cudaSuccess;
        free(w);
    }
    for (int i = 0; i < STEPS; i++) {
        float *now = host[i % 2];               /* its copy of two steps ago must be over         */
        if (i >= 2) {
            PERF_GPU_WAIT("batch free");
            cudaEventSynchronize(copied[i % 2]);
        }
        load(now, &seed, slow);
        step(m, stream, now, i == 0);
        cudaEventRecord(copied[i % 2], stream);
        if (sync || i == 0 || i == STEPS - 1) {
            PERF_GPU_WAIT("loss");
            cudaMemcpyAsync(&loss, m.loss, sizeof loss, cudaMemcpyDeviceToHost, stream);
            m.ok = m.ok && cudaStreamSynchronize(stream) == cudaSuccess;
            first_loss = i == 0 ? loss : first_loss;
        }
    }
    (void)perf_gpu_collect_sync();
    perf_report_to(stdout, NULL);
    printf("loss %g -> %g\n", static_cast<double>(first_loss), static_cast<double>(loss));
    m.ok = m.ok && perf_trace_save("training.json") == PERF_OK;
    printf("wrote training.json\n");
    return !m.ok;
}
