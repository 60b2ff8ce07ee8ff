/// The host and port on which a server listens.
struct ListenAddress {
    let host: String
    let port: Int

    /// An error for a text that is not a host and a port.
    struct Refusal: Error, CustomStringConvertible {
        let description = "must be HOST:PORT, such as 127.0.0.1:8080 or [::1]:8080"
    }

    init(_ text: String) throws {
        guard let colon = text.lastIndex(of: ":"), let port = Int(text[text.index(after: colon)...]),
            (0...65535).contains(port)
        else { throw Refusal() }
        var host = text[..<colon]
        if host.hasPrefix("["), host.hasSuffix("]") { host = host.dropFirst().dropLast() }
        guard !host.isEmpty else { throw Refusal() }
        self.host = String(host)
        self.port = port
    }
}
