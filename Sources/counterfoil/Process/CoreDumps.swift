import CounterfoilPlatform

/// The core dumps that the system writes when this program crashes, and that would contain tokens.
enum CoreDumps {
    /// Disables core dumps of this process.
    static func forbid() {
        #if canImport(Glibc)
            var limit = rlimit()
            guard getrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &limit) == 0 else { return }
            limit.rlim_cur = 0
            setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &limit)
        #elseif canImport(Musl) || canImport(Darwin)
            var limit = rlimit()
            guard getrlimit(RLIMIT_CORE, &limit) == 0 else { return }
            limit.rlim_cur = 0
            setrlimit(RLIMIT_CORE, &limit)
        #endif
    }
}
