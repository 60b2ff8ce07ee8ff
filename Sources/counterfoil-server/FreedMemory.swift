#if canImport(Glibc)
    import CMalloc
    import Glibc
#endif

/// The tuning of the memory allocator for freed memory.
enum FreedMemory {
    /// Lets each arena of the allocator keep freed memory, up to the memory of two password hashes.
    ///
    /// glibc raises these thresholds by itself only when the first password hash is freed. Until then it returns
    /// freed memory to the system, and requests it again, page by page, for the next requests.
    static func keep() {
        #if canImport(Glibc)
            _ = mallopt(M_MMAP_THRESHOLD, hash)
            _ = mallopt(M_TRIM_THRESHOLD, 2 * hash)
        #endif
    }

    /// More than the memory of one password hash, in bytes.
    private static let hash: CInt = 20 << 20
}
