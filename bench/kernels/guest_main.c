// SPDX-License-Identifier: MIT
// The guest around the kernels. Usage: kernels NAME N REPEATS; prints the sum of the results and a
// newline. Exits with 2 when the arguments make no sense, with 3 when it cannot print.

#include "kernels.h"
#include "text.h"

typedef struct
{
    const char* name;
    uint64_t (*run)(uint64_t n);
} Kernel;

static const Kernel kernels[] = {
#define MOPVM_KERNEL(name, size, role) {#name, kernel_##name},
#include "kernels.inc"
#undef MOPVM_KERNEL
};

static const Kernel* find(const char* name)
{
    for (size_t i = 0; i < sizeof kernels / sizeof kernels[0]; ++i) {
        if (text_equal(kernels[i].name, name))
            return &kernels[i];
    }
    return NULL;
}

int main(int argc, char** argv)
{
    uint64_t n;
    uint64_t repeats;
    if (argc != 4 || !parse_number(argv[2], UINT64_MAX, &n) ||
        !parse_number(argv[3], UINT64_MAX, &repeats))
        return 2;
    const Kernel* const kernel = find(argv[1]);
    if (kernel == NULL)
        return 2;

    uint64_t sum = 0;
    for (uint64_t i = 0; i < repeats; ++i)
        sum += kernel->run(n);
    return print_number(sum) && print("\n") ? 0 : 3;
}
