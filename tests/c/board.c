/* A firmware without a C library: it proves the structure of files that it gets by semihosting.
 *
 * The file board.list has one path a line. For each it prints the status, the rule, the offset, the bytes of stack of
 * the call, its instructions, and the path. board.ld places it; tests/c/board builds and runs it. */
#include "pte.h"

#ifdef PEER /* FlatBuffers' own verifier of the same tables. */
int peer_verify(const void *data, size_t size);
#endif

enum { OPEN = 1, WRITE0 = 4, READ = 6, CLOSE = 2, LENGTH = 12, EXIT_EXTENDED = 0x20 };

/* The longest stack of a call that is measured. */
enum { PAINTED = 8192 };

static unsigned char *const buffer = (unsigned char *)BUFFER;

#ifdef __arm__
static uintptr_t semihost(uintptr_t operation, const void *arguments) {
    register uintptr_t r0 __asm__("r0") = operation;
    register const void *r1 __asm__("r1") = arguments;
    __asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
    return r0;
}

/* SysTick counts 25 MHz, and an instruction takes 1 ns (-icount shift=0). */
static volatile uint32_t *const systick = (volatile uint32_t *)0xe000e010;
static void start_counter(void) { systick[1] = 0xffffff, systick[2] = 0, systick[0] = 5; }
static uint32_t read_counter(void) { return (0xffffff - systick[2]) * 40; }

#define STACK_POINTER "mov %0, sp"

void start(void);
extern const char stack_top[];
__attribute__((section(".start"), used)) static const void *const vectors[] = {stack_top, (const void *)start};
#else
uintptr_t semihost(uintptr_t operation, const void *arguments);
__asm__(".section .start,\"ax\"\n.globl entry\nentry: la sp, stack_top\n j start\n"
        ".text\n.balign 16\n.globl semihost\nsemihost:\n.option push\n.option norvc\n"
        "slli x0, x0, 0x1f\nebreak\nsrai x0, x0, 7\n.option pop\nret\n");

#define STACK_POINTER "mv %0, sp"

static void start_counter(void) {}
static uint32_t read_counter(void) {
    uint32_t count;
    __asm__ volatile("csrr %0, mcycle" : "=r"(count));
    return count;
}
#endif

static void stop(int status) {
    const uintptr_t arguments[] = {0x20026, (uintptr_t)status};
    for (;;) {
        semihost(EXIT_EXTENDED, arguments);
    }
}

/* A panic of the library would call it: the only function that the library asks of a firmware, if any. */
void abort(void);
void abort(void) { stop(134); }

static void print(const char *text) { semihost(WRITE0, text); }

static void print_number(uint64_t number) {
    char digits[24];
    char *next = digits + sizeof digits - 1;
    *next = 0;
    do {
        uint32_t high = (uint32_t)(number >> 32), low = (uint32_t)number, rest = 0;
        uint64_t quotient = 0;
        int bit;
        for (bit = 63; bit >= 0; bit--) { /* No division of 64 bits: it would need libgcc. */
            rest = rest << 1 | (bit > 31 ? high >> (bit - 32) & 1 : low >> bit & 1);
            quotient <<= 1;
            if (rest >= 10) {
                rest -= 10, quotient |= 1;
            }
        }
        *--next = (char)('0' + rest);
        number = quotient;
    } while (number > 0);
    print(next);
    print(" ");
}

/* Reads a file to `to`. Returns its size; SIZE_MAX if it is missing or too long. */
static size_t read_file(const char *path, size_t length, unsigned char *to, size_t most) {
    const uintptr_t opened[] = {(uintptr_t)path, 1, length};
    const uintptr_t handle = semihost(OPEN, opened);
    const uintptr_t closed[] = {handle};
    size_t size;
    if (handle == (uintptr_t)-1) {
        return SIZE_MAX;
    }
    size = semihost(LENGTH, closed);
    if (size <= most) {
        const uintptr_t arguments[] = {handle, (uintptr_t)to, size};
        size = semihost(READ, arguments) == 0 ? size : SIZE_MAX;
    } else {
        size = SIZE_MAX;
    }
    semihost(CLOSE, closed);
    return size;
}

static __attribute__((noinline)) int call(const void *data, size_t size, pte_refusal *refusal) {
#if defined PEER
    (void)refusal;
    return peer_verify(data, size) ? 0 : 3;
#elif defined NOTHING
    (void)data, (void)size, (void)refusal;
    return 0;
#else
    return (int)pte_verify_refusal(data, size, refusal);
#endif
}

/* Paints the stack below its own frame, calls, and finds the lowest byte that has changed. */
static __attribute__((noinline)) void judge(size_t size, const char *path) {
    static pte_refusal refusal;
    volatile unsigned char *lowest;
    unsigned char *room;
    uint32_t count;
    int status;
    __asm__ volatile(STACK_POINTER : "=r"(room) : : "memory"); /* Where the frame of the call begins. */
    for (lowest = room - PAINTED; lowest < (volatile unsigned char *)room; lowest++) {
        *lowest = 0xa5;
    }
    count = read_counter();
    status = call(buffer, size, &refusal);
    count = read_counter() - count;
    for (lowest = room - PAINTED; *lowest == 0xa5 && lowest < (volatile unsigned char *)room; lowest++) {
    }
    print_number((uint64_t)status);
    print(refusal.rule[0] ? refusal.rule : "-");
    print(" ");
    print_number(refusal.offset);
    print_number((uint64_t)((unsigned char *)room - lowest));
    print_number(count);
    print(path);
    print("\n");
}

void start(void) {
    static char list[1 << 18];
    size_t length = read_file("board.list", 10, (unsigned char *)list, sizeof list - 1), at = 0;
    if (length == SIZE_MAX) {
        stop(2);
    }
    start_counter();
    while (at < length) {
        size_t end = at, size;
        while (end < length && list[end] != '\n') {
            end++;
        }
        list[end] = 0;
        size = read_file(list + at, end - at, buffer, BUFFER_SIZE);
        if (size == SIZE_MAX) {
            print("skipped - 0 0 0 "), print(list + at), print("\n");
        } else {
            judge(size, list + at);
        }
        at = end + 1;
    }
    stop(0);
}
