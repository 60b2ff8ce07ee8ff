import HTTPTypes
import IPAddresses
import Testing

@testable import HTTPListener

/// The source of a request, for which only the proxies that the operator has named are trusted.
struct TrustedProxyTests {
    private static let unknown = "unknown, by way of 127.0.0.1"

    private static let proxies = ["127.0.0.1", "10.0.0.0/8", "::1", "fd00::/8"]

    private func source(
        _ connection: String, _ fields: [(String, String)] = [], trusting proxies: [String] = Self.proxies
    ) throws -> String {
        var list = HTTPFields()
        for (name, value) in fields { list.append(HTTPField(name: try #require(HTTPField.Name(name)), value: value)) }
        let address = IPAddress(connection)
        return try TrustedProxies(proxies).source(of: list, from: address)
    }

    // Who can reach the socket decides the permissions of its file, so the operator must name it.
    @Test func `the peer of a Unix socket is a proxy only if it is named`() throws {
        let field = try #require(HTTPField.Name("X-Forwarded-For"))
        for (proxies, source) in [([], "unix"), (["10.0.0.0/8", "fc00::/7"], "unix"), (["unix"], "203.0.113.9")] {
            let trusted = try TrustedProxies(proxies)
            #expect(trusted.source(of: [field: "203.0.113.9"], from: .unixSocket) == source)
        }
        let trusted = try TrustedProxies(["unix"])
        #expect(trusted.source(of: [field: "203.0.113.9"], from: nil) == "unknown")
        #expect(trusted.source(of: [field: "203.0.113.9"], from: IPAddress("127.0.0.1")) == "127.0.0.1")
        // No forwarded address is the one of a Unix socket.
        #expect(trusted.source(of: [field: "unix"], from: .unixSocket) == "unknown, by way of unix")
    }

    @Test func `without a trusted proxy no header field is trusted`() throws {
        let field = [("X-Forwarded-For", "203.0.113.9")]
        #expect(try source("127.0.0.1", field, trusting: []) == "127.0.0.1")
        #expect(try source("192.0.2.1", field) == "192.0.2.1")
        #expect(try source("11.0.0.1", [("Forwarded", "for=203.0.113.9")]) == "11.0.0.1")
    }

    @Test(arguments: [
        ("203.0.113.9", "203.0.113.9"),
        // Earlier addresses in the list can be forged.
        ("198.51.100.1, 203.0.113.9", "203.0.113.9"),
        ("198.51.100.1, 203.0.113.9, 10.1.2.3", "203.0.113.9"),
        ("203.0.113.9:51004", "203.0.113.9"),
        // This field has no quoted strings.
        ("\"198.51.100.1, 203.0.113.9", "203.0.113.9"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("[2001:db8:1:2::1]:443", "2001:db8:1:2::/64"),
        ("::ffff:203.0.113.9", "203.0.113.9"),
        ("", "127.0.0.1"), ("10.0.0.1, 10.0.0.2", "127.0.0.1"),
        // Unreadable addresses count as one source, which is not this machine.
        ("unknown", unknown), ("203.0.113.9, evil", unknown), ("1.2.3", unknown), ("203.0.113.9;drop", unknown),
        ("203.0.113.9, nonsense, 10.0.0.2", unknown),
    ])
    func `the last address that is not a proxy's counts`(field: String, expected: String) throws {
        #expect(try source("127.0.0.1", [("X-Forwarded-For", field)]) == expected)
    }

    @Test(arguments: [
        (#"for=203.0.113.9;proto=https;by=10.0.0.1"#, "203.0.113.9"),
        (#"for=198.51.100.1, for=203.0.113.9"#, "203.0.113.9"),
        (#"For="[2001:db8:1:2::1]:4711""#, "2001:db8:1:2::/64"),
        (#"for=_hidden"#, unknown), (#"for=unknown"#, unknown), (#"proto=https"#, unknown),
        (#"for=203.0.113.9;for=198.51.100.1"#, unknown),
        // A proxy quotes the field `Host`, which the sender can choose.
        (#"for=203.0.113.9;host="a, for=198.51.100.1;b=""#, "203.0.113.9"),
        (#"for=203.0.113.9;host="a\", for=198.51.100.1;b=""#, "203.0.113.9"),
        (#"host="a;for=198.51.100.1";for=203.0.113.9"#, "203.0.113.9"),
        (#"host="a, for=203.0.113.9"#, unknown),
    ])
    func `the standard field is parsed as in RFC 7239`(field: String, expected: String) throws {
        #expect(try source("127.0.0.1", [("Forwarded", field)]) == expected)
    }

    @Test func `repeated fields are one list, and two kinds of field are ignored`() throws {
        #expect(
            try source("::1", [("X-Forwarded-For", "198.51.100.1"), ("X-Forwarded-For", "203.0.113.9")])
                == "203.0.113.9")
        #expect(
            try source("::1", [("X-Forwarded-For", "203.0.113.9"), ("Forwarded", "for=198.51.100.1")])
                == "unknown, by way of ::1")
        #expect(try source("127.0.0.1") == "127.0.0.1")
    }

    @Test(arguments: [
        "10.0.0.1/8", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/", "example.com", "", "10.0.0.0/8/8", "fd00::/129",
    ])
    func `a text that is not a network is refused`(text: String) {
        #expect(throws: TrustedProxies.Refusal.self) { _ = try TrustedProxies([text]) }
    }

    @Test(arguments: ["0.0.0.0/0", "::/0", "128.0.0.0/1", "2000::/3", "::ffff:0.0.0.0/0", "8.0.0.0/7", "f000::/7"])
    func `a network of all clients is refused`(network: String) throws {
        let refusal = try #require(#expect(throws: TrustedProxies.Refusal.self) { try TrustedProxies([network]) })
        #expect(refusal.description.hasPrefix("\(network) includes clients, which could then choose their address"))
    }

    @Test(arguments: ["10.0.0.0/8", "172.16.0.0/12", "fd00::/8", "fc00::/7", "2a06:98c0::/29", "104.16.0.0/13"])
    func `a network of one organization is accepted`(network: String) throws {
        _ = try TrustedProxies([network])
    }
}
