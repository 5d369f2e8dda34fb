/* diagnose_kernel.h - what kernels and calls of a trace are, by their names.
 *
 *     size_t family = diag_family_of("void at::native::elementwise_kernel<128, 2, ...");
 *     puts(diag_families(&n)[family].name);        // "elementwise"
 *
 * SPDX-License-Identifier: MIT (full text in LICENSE)                                            */
#ifndef PERF_TOOLS_DIAGNOSE_KERNEL_H
#define PERF_TOOLS_DIAGNOSE_KERNEL_H

#include "diagnose_trace.h"

typedef struct diag_family {
    const char *name;
    const char *words;                  /* a kernel with one of them belongs here; the first wins */
    int         memory;                 /* 1: its time goes to moving bytes, as a rule            */
} diag_family;

PERF_FN const diag_family *diag_families(size_t *n)
{
    static const diag_family family[] = {
        {"collectives", "nccl|rccl|NCCL|RCCL|AllReduce|all_reduce|allreduce|AllGather|AllToAll|"
                        "ReduceScatter|cross_device_reduce|nvshmem", 0},
        {"optimizer (multi-tensor)", "multi_tensor_apply|FusedAdam|FusedSGD|fused_adam", 1},
        {"attention", "flash_|flash::|FlashAttn|fmha|Fmha|FMHA|attention|Attention|sdpa|_attn_", 0},
        {"dropout", "dropout", 1},
        {"batch or layer norm", "layer_norm|LayerNorm|layernorm|batch_norm|bn_fw|bn_bw|batchnorm|"
                                "BatchNorm|rms_norm|rmsnorm|RMSNorm|RmsNorm|GroupNorm|group_norm|"
                                "RowwiseMoments|GammaBeta", 1},
        {"softmax", "softmax|SoftMax|Softmax", 1},
        {"layout change", "nchwToNhwc|nhwcToNchw|transpose|Transpose|permute|im2col|col2im|Im2d",
         1},
        {"convolution", "fprop|dgrad|wgrad|conv2d|conv3d|conv_|AsmConv|MIOpenConv|convolve|"
                        "Convolution|_scudnn_|s884cudnn|1688cudnn|16816cudnn|_hcudnn|winograd|"
                        "Winograd|igemm_", 0},
        {"matrix product", "gemm|Gemm|GEMM|cutlass|Cijk_|gemv|splitK|splitk|cublasLt|nvjet|matmul|"
                           "triton_mm|triton_tem", 0},
        {"Fourier transform", "fft|FFT", 0},
        {"pooling", "pool|Pooling", 1},
        {"concatenation", "CatArray", 1},
        {"embedding, index, gather", "index|gather|scatter|embedding|Embedding|masked_", 1},
        {"sort, scan, unique", "cub::|Sort|sort|Scan|scan_|unique", 1},
        {"copy, cast", "direct_copy_kernel|copy_kernel|copyKernel|CopyKernel", 1},
        {"fill", "FillFunctor|fill_kernel|fillBuffer", 1},
        {"random numbers", "distribution_|curand|philox", 1},
        {"reduction", "reduce_kernel|ReduceOp|reduce_|Reduce", 1},
        {"Triton", "triton_", 1},
        {"elementwise", "elementwise|elementWise|pointwise|Pointwise|Functor", 1},
        {"other kernels", "", 0}};

    *n = sizeof family / sizeof *family;
    return family;
}

/* The family of a kernel; the last one where no other fits. */
PERF_FN size_t diag_family_of(const char *kernel)
{
    size_t             n, i;
    const diag_family *family = diag_families(&n);

    for (i = 0; i + 1 < n; i++)
        if (diag_has(kernel, family[i].words))
            return i;
    return n - 1;
}

/* Length of a kernel's name up to its template arguments or parameters; a group in parentheses at
 * the begin of a part, "(anonymous namespace)", belongs to the name.                             */
PERF_FN size_t diag_base(const char *text)
{
    size_t n = 0;

    while (text[n] && text[n] != '<') {
        if (text[n] == '(') {
            if (strncmp(text + n, "(anonymous", 10) != 0)
                break;
            n += strcspn(text + n, ")");
        }
        n += text[n] != '\0';
    }
    return n;
}

/* Does a word of a kernel's arguments say what it does?  "FillFunctor", "mse_kernel", "MeanOps". */
PERF_FN int diag_says_what(const char *word, size_t n)
{
    static const char *const end[] = {"Functor", "functor", "_kernel", "_kernel_cuda", "Ops"};
    size_t i, k;

    for (i = 0; i < sizeof end / sizeof *end; i++) {
        k = strlen(end[i]);
        if (n > k && !memcmp(word + n - k, end[i], k))
            return 1;
    }
    return !strncmp(word, "launch_", 7) || !strncmp(word, "CUDAFunctor", 11) ||
           !strncmp(word, "AUnaryFunctor", 13);
}

/* What an elementwise or reducing kernel of PyTorch does: the first word inside its arguments that
 * says it.  Bytes of it at *at; 0: there is none.                                                */
PERF_FN size_t diag_inner(const char *text, const char **at)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
    size_t n;

    while (*text) {
        text += strcspn(text, letters);
        n = strspn(text, letters);
        if (diag_says_what(text, n)) {
            *at = text;
            return n;
        }
        text += n;
    }
    return 0;
}

/* A kernel's name for people: without "void", namespaces, arguments; what it does follows. */
PERF_FN void diag_readable(const char *kernel, char *out, size_t size)
{
    const char *text = diag_starts(kernel, "void ") ? kernel + 5 : kernel, *base = text,
               *inner = NULL;
    size_t      n = diag_base(text), i, m = 0;

    for (i = 0; i + 1 < n; i++)
        if (text[i] == ':' && text[i + 1] == ':')
            base = text + i + 2;
    n -= (size_t)(base - text);
    if (n < 8 && diag_starts(base, "Kernel") && base[n] == '<') {   /* of CUTLASS: its argument   */
        base += n + 1;
        n = strcspn(base, "<>(,");
    }
    if (diag_has(kernel, "at::native"))
        m = diag_inner(base + n, &inner);
    if (m)
        snprintf(out, size, "%.*s: %.*s", (int)(n < 40 ? n : 40), base, (int)(m < 40 ? m : 40),
                 inner);
    else
        snprintf(out, size, "%.*s", (int)(n < 80 ? n : 80), base);
}

/* Does a call of the runtime wait for the device? */
PERF_FN int diag_is_sync(const char *call)
{
    if (diag_has(call, "Synchronize"))
        return 1;
    if (diag_has(call, "Memcpy"))
        return !diag_has(call, "Async") && !diag_has(call, "Peer");
    return 0;
}

PERF_FN int diag_is_copy_call(const char *call)
{
    return diag_has(call, "Memcpy") || diag_has(call, "memcpy");
}

PERF_FN int diag_is_launch(const char *call)
{
    return diag_has(call, "Launch") || diag_has(call, "launch");
}

/* Does an event of the host fetch the next batch? */
PERF_FN int diag_is_data(const char *name)
{
    return diag_has(name, "DataLoader|dataloader|data_load|DataPipe|next_batch|Data Wait|data wait|"
                          "load_batch");
}

/* A collective as a host sees it: annotations of process groups. */
PERF_FN int diag_is_host_collective(const char *name)
{
    return diag_starts(name, "gloo:") || diag_starts(name, "nccl:") || diag_starts(name, "mpi:") ||
           diag_starts(name, "ucc:") || diag_starts(name, "c10d::");
}

/* Operators that fetch a number from the device and wait for it. */
PERF_FN int diag_is_fetch(const char *name)
{
    return diag_has(name, "aten::item|_local_scalar_dense|aten::is_nonzero|aten::nonzero|"
                          "aten::equal|masked_select|aten::cpu|unique");
}

typedef enum diag_direction { DIAG_TO_DEVICE, DIAG_TO_HOST, DIAG_ON_DEVICE, DIAG_DIRECTIONS }
    diag_direction;

PERF_FN diag_direction diag_direction_of(const char *copy)
{
    if (diag_has(copy, "HtoD|Host -> Device|host to device|HostToDevice"))
        return DIAG_TO_DEVICE;
    return diag_has(copy, "DtoH|Device -> Host|DeviceToHost") ? DIAG_TO_HOST : DIAG_ON_DEVICE;
}

/* The host's side of a copy.  ROCm does not say which. */
typedef enum diag_memory { DIAG_UNSAID, DIAG_PINNED, DIAG_PAGEABLE, DIAG_MEMORIES } diag_memory;

PERF_FN diag_memory diag_memory_of(const char *copy)
{
    if (diag_has(copy, "Pageable|pageable"))
        return DIAG_PAGEABLE;
    return diag_has(copy, "Pinned|pinned") ? DIAG_PINNED : DIAG_UNSAID;
}

typedef struct diag_class {             /* what a name is, looked up once                         */
    unsigned char family;               /* of a kernel; 0: collectives                            */
    unsigned char data, talk, sync;     /* of the host: fetches data, is a collective, waits      */
} diag_class;

/* The class of every name of a trace; to be freed. */
PERF_FN diag_class *diag_classes(const diag_trace *trace)
{
    diag_class *is = (diag_class *)ab_grow(NULL, trace->names.n, sizeof *is);
    size_t      i;

    for (i = 0; i < trace->names.n; i++) {
        const char *name = trace->names.text[i];
        is[i].family = (unsigned char)diag_family_of(name);
        is[i].data = (unsigned char)diag_is_data(name);
        is[i].talk = (unsigned char)diag_is_host_collective(name);
        is[i].sync = (unsigned char)diag_is_sync(name);
    }
    return is;
}

#endif
