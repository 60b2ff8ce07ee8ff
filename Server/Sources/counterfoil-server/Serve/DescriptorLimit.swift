#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// The number of file descriptors that this process may open (`RLIMIT_NOFILE`).
enum DescriptorLimit {
    /// Raises the soft limit to `wanted`, or to the hard limit if that is lower; never lowers it.
    ///
    /// - Returns: The soft limit afterwards; nil if the system does not report it.
    static func raise(to wanted: Int) -> Int? {
        var limit = rlimit()
        guard getrlimit(resource, &limit) == 0 else { return nil }
        let wanted = min(rlim_t(wanted), limit.rlim_max)
        if limit.rlim_cur < wanted {
            var raised = limit
            raised.rlim_cur = wanted
            if setrlimit(resource, &raised) == 0 { limit = raised }
        }
        return Int(clamping: limit.rlim_cur)
    }

    #if canImport(Glibc)
        private static var resource: __rlimit_resource_t { __rlimit_resource_t(RLIMIT_NOFILE.rawValue) }
    #else
        private static var resource: CInt { RLIMIT_NOFILE }
    #endif
}
