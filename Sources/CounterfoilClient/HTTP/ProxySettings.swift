@_spi(Counterfoil) import CounterfoilProtocol

/// The HTTP proxy for https requests that the environment of the process names.
///
/// `https_proxy`, `HTTPS_PROXY`, `all_proxy` and `ALL_PROXY` name the proxy, in this order; `no_proxy` and `NO_PROXY`
/// list the exceptions. The first variable with a value decides. If it names a proxy of another kind, such as SOCKS,
/// nothing is sent, because the user does not want a direct connection. `HTTP_PROXY` has no effect, because plain http
/// is sent only to loopback.
struct ProxySettings: Hashable, Sendable {
    /// A proxy that opens tunnels with `CONNECT` (RFC 9110 §9.3.6).
    struct Proxy: Hashable, Sendable {
        let host: String
        let port: Int
        /// The user name and the password for `Proxy-Authorization`; nil if the URL contains none.
        let credentials: BasicCredentials?

        struct BasicCredentials: Hashable, Sendable {
            let user: String
            let password: String
        }

        /// The host and the port, without the credentials.
        var name: String { "\(host.contains(":") ? "[\(host)]" : host):\(port)" }
    }

    /// The error for a variable whose value is not the URL of an HTTP proxy; it contains the name of the variable.
    struct Unusable: Error, Hashable, Sendable {
        let variable: String
    }

    private let proxy: Result<Proxy, Unusable>?
    private let exceptions: ProxyExceptions

    /// Settings without a proxy.
    static let direct = ProxySettings([:])

    /// Reads the settings in an environment.
    init(_ environment: [String: String]) {
        func value(_ names: String...) -> (name: String, text: String)? {
            names.lazy.compactMap { name in environment[name].map { (name, $0) } }.first { !$0.1.isEmpty }
        }
        proxy = value("https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY").map { name, text in
            Proxy(parsing: text).map { .success($0) } ?? .failure(Unusable(variable: name))
        }
        exceptions = ProxyExceptions(value("no_proxy", "NO_PROXY")?.text ?? "")
    }

    /// Returns the proxy for requests to an endpoint; nil if they are sent directly.
    func proxy(for endpoint: EndpointURL) throws(Unusable) -> Proxy? {
        guard let proxy, endpoint.uri.scheme.lowercased() == "https", let host = endpoint.uri.host else { return nil }
        let port = endpoint.uri.port ?? 443
        guard !exceptions.contain(host: host, port: port) else { return nil }
        return try proxy.get()
    }
}

extension ProxySettings.Proxy {
    /// Parses `[http://][USER[:PASSWORD]@]HOST[:PORT]`; nil if it is anything else, such as a proxy behind TLS.
    init?(parsing text: String) {
        guard let uri = try? AbsoluteURI(parsing: text.contains("://") ? text : "http://\(text)"),
            uri.scheme.lowercased() == "http", let host = uri.host, !host.isEmpty, uri.query == nil,
            uri.fragment == nil, ["", "/"].contains(uri.path)
        else { return nil }
        // A literal has no brackets where no URL surrounds it.
        self.host = host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host
        port = uri.port ?? 80
        guard let user = uri.userInformation else {
            credentials = nil
            return
        }
        let parts = user.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        let decoded = parts.map(Self.decoded)
        guard let name = decoded[0], let password = decoded.count == 2 ? decoded[1] : "" else { return nil }
        credentials = BasicCredentials(user: name, password: password)
    }

    /// Decodes a part of the user information (RFC 3986 §2.1); nil if the bytes are not UTF-8.
    private static func decoded(_ text: Substring) -> String? {
        var bytes: [UInt8] = []
        var rest = text.utf8
        while let byte = rest.popFirst() {
            // `AbsoluteURI` accepts only complete percent-encodings.
            let isEncoded = byte == UInt8(ascii: "%")
            let digits = isEncoded ? String(decoding: rest.prefix(2), as: UTF8.self) : ""
            if isEncoded { rest = rest.dropFirst(2) }
            bytes.append(UInt8(digits, radix: 16) ?? byte)
        }
        return String(validUTF8: bytes)
    }
}

/// The hosts to which requests are sent directly (`NO_PROXY`).
///
/// An entry is a domain with all its subdomains, an IP address, a range of addresses, or `*`. A port may follow.
/// Loopback is always an exception.
struct ProxyExceptions: Hashable, Sendable {
    private enum Rule: Hashable, Sendable {
        case all
        case domain(String)
        case address(IPAddress)
        case range(IPAddressRange)
    }

    private struct Entry: Hashable, Sendable {
        let rule: Rule
        let port: Int?
    }

    private let entries: [Entry]

    /// Parses a list that is separated by commas or blanks; ignores entries that cannot match.
    init(_ text: String) {
        entries = text.split { $0 == "," || $0.isWhitespace }.compactMap { Self.entry(String($0)) }
    }

    /// Returns true if requests to a host and a port are sent directly.
    func contain(host: String, port: Int) -> Bool {
        let name = host.hasSuffix(".") ? host.dropLast().lowercased() : host.lowercased()
        let address = IPAddress(name)
        if address?.isLoopback == true || name == "localhost" || name.hasSuffix(".localhost") { return true }
        return entries.contains { entry in
            guard entry.port == nil || entry.port == port else { return false }
            return switch entry.rule {
            case .all: true
            case .domain(let domain): address == nil && (name == domain || name.hasSuffix(".\(domain)"))
            case .address(let other): address == other
            case .range(let range): address.map(range.contains) ?? false
            }
        }
    }

    private static func entry(_ text: String) -> Entry? {
        if text == "*" { return Entry(rule: .all, port: nil) }
        if let range = IPAddressRange(text) { return Entry(rule: .range(range), port: nil) }
        if let address = IPAddress(text) { return Entry(rule: .address(address), port: nil) }
        var (name, port) = (Substring(text), Int?.none)
        if let colon = text.lastIndex(of: ":") {
            guard let number = Int(text[text.index(after: colon)...]) else { return nil }
            (name, port) = (text[..<colon], number)
        }
        if let address = IPAddress(name) { return Entry(rule: .address(address), port: port) }
        if name.hasPrefix("*.") { name = name.dropFirst(2) }
        if name.hasPrefix(".") { name = name.dropFirst() }
        if name.hasSuffix(".") { name = name.dropLast() }
        return name.isEmpty ? nil : Entry(rule: .domain(name.lowercased()), port: port)
    }
}
