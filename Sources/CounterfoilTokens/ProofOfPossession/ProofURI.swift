@_spi(Counterfoil) import CounterfoilProtocol

/// The URL of a request, in the form in which the claim `htu` of a proof is compared with it.
///
/// RFC 9449 §4.3 check 9: query and fragment are ignored, and both URLs are normalized (RFC 3986 §6.2.2.1, §6.2.2.2 and
/// §6.2.3). One slash at the end of the path makes no difference, because clients and proxies add and remove it. Dot
/// segments remain, because servers differ in whether they remove them.
@_spi(Counterfoil) public struct ProofURI: Sendable, Hashable {
    private let normalized: String
    /// The URL as it was given, which most clients send as `htu`.
    fileprivate let text: String

    /// Normalizes an http or https URL; returns nil for any other text.
    public init?(_ text: String) {
        guard let uri = try? AbsoluteURI(parsing: text), let host = uri.host, !host.isEmpty,
            uri.userInformation == nil
        else { return nil }
        let scheme = uri.scheme.lowercased()
        guard let defaultPort = ["http": 80, "https": 443][scheme] else { return nil }
        let port = uri.port.flatMap { $0 == defaultPort ? nil : ":\($0)" } ?? ""
        var path = Self.normalized(path: uri.path)
        if path.hasSuffix("/") { path.removeLast() }
        self.text = text
        normalized = "\(scheme)://\(host.lowercased())\(port)\(path)"
    }

    /// Returns true if two URLs are equal after normalization.
    public static func == (left: ProofURI, right: ProofURI) -> Bool { left.normalized == right.normalized }

    /// Hashes the normalized URL.
    public func hash(into hasher: inout Hasher) { hasher.combine(normalized) }

    /// Returns a path whose percent-encoding is normalized (RFC 3986 §6.2.2.1 and §6.2.2.2).
    ///
    /// Hexadecimal digits become upper case, and the encoding of an unreserved character becomes the character.
    private static func normalized(path: String) -> String {
        var result: [UInt8] = []
        var rest = Array(path.utf8)[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%"), rest.count >= 2,
                let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16)
            else {
                result.append(byte)
                continue
            }
            if value.isUnreserved {
                result.append(value)
            } else {
                result.append(byte)
                result.append(contentsOf: String(decoding: rest.prefix(2), as: UTF8.self).uppercased().utf8)
            }
            rest = rest.dropFirst(2)
        }
        return String(decoding: result, as: UTF8.self)
    }
}

extension Sequence<ProofURI> {
    /// Returns true if one of the URLs equals the value of `htu`.
    func contains(url text: String) -> Bool {
        if contains(where: { $0.text.hasSameBytes(as: text) }) { return true }
        return ProofURI(text).map(contains) ?? false
    }
}
