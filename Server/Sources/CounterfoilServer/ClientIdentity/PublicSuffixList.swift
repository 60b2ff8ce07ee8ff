@_spi(Counterfoil) import CounterfoilProtocol

/// The public suffix list of the system: the domains in which anyone can get a name, such as `com`, `co.uk` and
/// `github.io`.
///
/// libpsl reads the list. It is loaded at run time, so the server also runs without it.
package final class PublicSuffixList: Sendable {
    /// The list of the system; nil if libpsl is not installed.
    package static let system = PublicSuffixList(libraryNames: PublicSuffixLibrary.names)

    private let library: Mutex<PublicSuffixLibrary>

    /// Loads the list with the first library that the system has; nil if it has none.
    package init?(libraryNames: [String]) {
        guard let library = PublicSuffixLibrary(anyOf: libraryNames) else { return nil }
        self.library = Mutex(library)
    }

    /// Returns the part of a host that one party has registered: the public suffix and one more label.
    ///
    /// - Parameter host: A domain name in lower case and ASCII.
    /// - Returns: Nil if the host is a public suffix itself.
    package func registrableDomain(of host: String) -> String? {
        library.withLock { $0.registrableDomain(of: host) }
    }
}
