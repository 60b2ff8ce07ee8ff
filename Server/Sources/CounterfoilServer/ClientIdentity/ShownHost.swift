/// A host as pages show it: the part that one party has registered is set off from its subdomains.
///
/// Anyone can choose the subdomains of an own domain, as in `accounts.bank.example.attacker.example`. A host of an
/// internationalized domain name stays in ASCII (`xn--…`, RFC 5890 §2.3.2.1), so no letter can imitate another.
package struct ShownHost: Sendable, Hashable {
    /// The subdomains with their last dot, such as `apps.`; nil if there are none.
    package var subdomains: String?
    /// The registrable domain; the whole host if it is a public suffix itself, or if the server knows no list.
    package var domain: String
    /// The port with its colon, such as `:8443`; nil if the URL contains none.
    package var port: String?

    /// Divides a host.
    ///
    /// - Parameters:
    ///   - host: A domain name in lower case and ASCII.
    ///   - port: The port of the URL; nil if it contains none.
    ///   - suffixes: The list that tells the registrable domain; nil if the server has none.
    package init(_ host: String, port: Int? = nil, suffixes: PublicSuffixList?) {
        let registrable = suffixes?.registrableDomain(of: host)
        if let registrable, registrable != host, host.hasSuffix("." + registrable) {
            subdomains = String(host.dropLast(registrable.count))
            domain = registrable
        } else {
            domain = host
        }
        self.port = port.map { ":\($0)" }
    }
}
