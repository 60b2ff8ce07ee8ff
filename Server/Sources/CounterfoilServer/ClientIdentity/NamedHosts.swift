import CounterfoilProtocol
import CounterfoilStore
import Foundation

/// The hosts that a name contains, as in `My Bank (bank.example.com)`.
///
/// Pages show the host of an app in this form, so users trust it. A name may therefore contain only hosts of the app
/// itself.
struct NamedHosts {
    /// The hosts in lower case.
    let all: [String]

    /// Finds the texts that a user would take for a domain name or an IP address.
    init(in name: String) {
        // Unicode Standard Annex #15: a character that only looks like a letter or a period becomes that one.
        let text = name.precomposedStringWithCompatibilityMapping.lowercased().replacing("\u{3002}", with: ".")
        let words = text.split { !$0.isLetter && !$0.isNumber && $0 != "." && $0 != "-" && $0 != "_" }
        all = words.compactMap(Self.host) + Self.literals(in: text)
    }

    /// Returns the first host that is not one of the app with these redirect URIs; nil if there is none.
    ///
    /// A host is the app's own if every redirect URI is at it, or at another one of its registrable domain: with a
    /// single one elsewhere, the response could go there. Development redirect URIs of a web or single-page app do not
    /// count, because they are on the user's own device.
    func foreign(
        to redirectURIs: [RedirectURI], of type: ClientType, suffixes: PublicSuffixList? = .system
    ) -> String? {
        let counted = redirectURIs.filter { type == .native || $0.loopbackHost == nil }
        return all.first { named in
            if redirectURIs.contains(where: { $0.loopbackHost == named }) { return false }
            guard !counted.isEmpty else { return true }
            return !counted.allSatisfy { uri in
                guard case .https(let host) = uri.kind else { return false }
                return Self.isOwn(named, of: DomainName.canonical(host), suffixes)
            }
        }
    }

    /// Returns the names in a registration that contain a host that is not the client's own.
    ///
    /// A registration can be older than the rule. Its redirect URIs decide, so that a change of them does not make a
    /// host foreign unnoticed.
    static func foreignNames(of client: RegisteredClient) -> [String] {
        [client.presentation.name, client.presentation.publisher].compactMap(\.self)
            .filter { NamedHosts(in: $0).foreign(to: client.redirectURIs, of: client.type) != nil }
    }

    /// Returns the first host that does not belong to the app whose document is at a host; nil if there is none.
    func foreign(toDocumentAt host: String, suffixes: PublicSuffixList? = .system) -> String? {
        all.first { !Self.isOwn($0, of: DomainName.canonical(host), suffixes) }
    }

    private static func isOwn(_ named: String, of host: String, _ suffixes: PublicSuffixList?) -> Bool {
        if named == host { return true }
        guard let domain = suffixes?.registrableDomain(of: host) else { return false }
        return named == domain || named.hasSuffix("." + domain)
    }

    /// Returns a word as a host; nil if it is none.
    private static func host(_ word: Substring) -> String? {
        let trimmed = word.drop { $0 == "." || $0 == "-" }
        guard let last = trimmed.lastIndex(where: { $0 != "." && $0 != "-" }) else { return nil }
        let host = String(trimmed[...last])
        if host == "localhost" { return host }
        let labels = host.split(separator: ".", omittingEmptySubsequences: false)
        guard labels.count >= 2, !labels.contains(""), let top = labels.last else { return nil }
        if labels.count == 4, labels.allSatisfy({ UInt8($0) != nil }) { return host }
        // The name of a language or a format, such as Node.js, is no host: no top-level domain is like it.
        guard top.count >= 2, top != "js", top.hasPrefix("xn--") || top.allSatisfy(\.isLetter) else { return nil }
        return host
    }

    /// Returns the IPv6 addresses in brackets.
    private static func literals(in text: String) -> [String] {
        text.matches(of: /\[[0-9a-f:.]+\]/).map { String($0.output) }
            .filter { literal in literal.count { $0 == ":" } >= 2 }
    }
}

extension RedirectURI {
    /// The host of a loopback redirect URI as URLs contain it; nil for other redirect URIs.
    fileprivate var loopbackHost: String? {
        if case .loopback(let host, _) = kind { host.rawValue } else { nil }
    }
}
