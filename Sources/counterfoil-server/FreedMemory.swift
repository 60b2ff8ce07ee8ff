#if canImport(Glibc)
    import CMalloc
    import Glibc
#endif

/// What becomes of memory that the server has no use for at the moment.
enum FreedMemory {
    /// Keeps it for what comes next, in each of the allocator's arenas up to the memory of two passwords that are hashed.
    ///
    /// The allocator of Linux learns about these sizes when the first password has been hashed. Until then it gives back to the
    /// system what a few requests have used, and takes it again, page by page, for the next ones.
    static func keep() {
        #if canImport(Glibc)
            _ = mallopt(M_MMAP_THRESHOLD, hash)
            _ = mallopt(M_TRIM_THRESHOLD, 2 * hash)
        #endif
    }

    /// More than a hash takes, in bytes.
    private static let hash: CInt = 20 << 20
}
