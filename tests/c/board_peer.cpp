// FlatBuffers' own verifier, as the official runtime calls it, for tests/c/board --peer.
#include "program_generated.h"

extern "C" int peer_verify(const void *data, size_t size) {
    flatbuffers::Verifier verifier(static_cast<const uint8_t *>(data), size);
    return executorch_flatbuffer::VerifyProgramBuffer(verifier);
}
