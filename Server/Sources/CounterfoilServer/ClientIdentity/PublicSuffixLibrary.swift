#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// The functions of libpsl, which the system loads at run time (`libpsl.h`), with the list that it has.
///
/// The library stays loaded, and the list stays in memory.
struct PublicSuffixLibrary {
    /// The names under which systems install the library, which has kept its binary interface since 2014.
    ///
    /// On Linux, the dynamic linker looks for a name without a slash in the folders of the system and of
    /// `LD_LIBRARY_PATH`, and never in the current folder. On macOS, the folders are those of Homebrew and MacPorts.
    static let names: [String] = {
        #if canImport(Darwin)
            ["/opt/homebrew/lib", "/usr/local/lib", "/opt/local/lib"].map { "\($0)/libpsl.5.dylib" }
        #else
            ["libpsl.so.5"]
        #endif
    }()

    // psl_ctx_t *psl_latest(const char *fname)
    private typealias Latest = @convention(c) (UnsafePointer<CChar>?) -> OpaquePointer?
    // const char *psl_registrable_domain(const psl_ctx_t *psl, const char *domain)
    private typealias RegistrableDomain =
        @convention(c) (OpaquePointer, UnsafePointer<CChar>) -> UnsafePointer<CChar>?

    private let list: OpaquePointer
    private let registrableDomain: RegistrableDomain

    /// Loads the first library that the system has; nil if it has none, or if the library has no list.
    init?(anyOf names: [String]) {
        for name in names {
            guard let library = dlopen(name, RTLD_NOW | RTLD_LOCAL) else { continue }
            guard let latest = dlsym(library, "psl_latest"),
                let registrableDomain = dlsym(library, "psl_registrable_domain"),
                // Without a file name, it is the newer of the list in the library and the list that the system updates.
                let list = unsafeBitCast(latest, to: Latest.self)(nil)
            else {
                dlclose(library)
                continue
            }
            self.list = list
            self.registrableDomain = unsafeBitCast(registrableDomain, to: RegistrableDomain.self)
            return
        }
        return nil
    }

    /// Returns the registrable domain of a host in lower case and ASCII; nil if the host is a public suffix itself.
    func registrableDomain(of host: String) -> String? {
        // The result points into the given text.
        host.withCString { start in registrableDomain(list, start).map { String(cString: $0) } }
    }
}
