import CounterfoilServer
import CounterfoilStore
import Foundation
import Testing

/// The addresses that outbound requests may reach.
struct OutboundNetworkTests {
    private static func bytes(_ text: String) throws -> [UInt8] {
        var four = in_addr()
        if inet_pton(AF_INET, text, &four) == 1 { return withUnsafeBytes(of: four, Array.init) }
        var sixteen = in6_addr()
        try #require(inet_pton(AF_INET6, text, &sixteen) == 1)
        return withUnsafeBytes(of: sixteen, Array.init)
    }

    private static func isReachable(_ networks: [String], _ addresses: String...) throws -> Bool {
        let verdict = try OutboundNetworks(networks).judge(try addresses.map(bytes))
        if case .reachable(let reachable) = verdict { return reachable.count == addresses.count }
        return false
    }

    @Test func `without an allowed network only public addresses are reachable`() throws {
        #expect(try Self.isReachable([], "93.184.215.14"))
        #expect(try Self.isReachable([], "2606:4700:4700::1111"))
        for address in ["10.0.0.1", "127.0.0.1", "169.254.169.254", "::1", "fd00::1", "fe80::1"] {
            #expect(try !Self.isReachable([], address), "\(address)")
        }
        #expect(OutboundNetworks.none.judge([]) == .unknownHost)
    }

    @Test(arguments: [
        ("10.20.0.0/16", "10.20.0.1", "10.21.0.1"), ("10.20.0.0/16", "10.20.255.255", "10.19.255.255"),
        ("192.168.1.7/32", "192.168.1.7", "192.168.1.8"), ("172.16.0.0/12", "172.31.255.255", "192.168.0.1"),
        ("100.64.0.0/10", "100.64.0.1", "100.100.100.200"), ("198.18.0.0/15", "198.19.0.1", "10.0.0.1"),
        ("127.0.0.0/8", "127.0.0.1", "10.0.0.1"), ("::1/128", "::1", "127.0.0.1"),
        ("fd00::/8", "fd12::1", "fd00:ec2::254"), ("fd00::/8", "fd00::1", "fd20:ce::254"),
        ("FD00:1::/32", "fd00:1:2::1", "fd00:2::1"), ("10.0.0.0/8", "10.0.0.1", "169.254.169.254"),
    ])
    func `an allowed network opens its addresses and no others`(network: String, inside: String, outside: String) throws
    {
        #expect(try Self.isReachable([network], inside))
        #expect(try !Self.isReachable([network], outside))
        #expect(try Self.isReachable([network], "93.184.215.14", inside))
        // One address outside the network makes the whole host name unreachable.
        #expect(try !Self.isReachable([network], inside, outside))
    }

    @Test func `an IPv4 address embedded in an IPv6 address is not opened by its network`() throws {
        for address in ["::ffff:10.0.0.1", "64:ff9b::10.0.0.1", "2002:0a00:0001::1"] {
            #expect(try !Self.isReachable(["10.0.0.0/8"], address), "\(address)")
        }
    }

    @Test(arguments: [
        ("10.0.0.0", "10.0.0.0 has no prefix length; write 10.0.0.0/32 for one address"),
        ("fd00::1", "fd00::1 has no prefix length; write fd00::1/128 for one address"),
        ("10.0.0.0/33", "the prefix length of 10.0.0.0/33 must be a number from 0 to 32"),
        ("fd00::/129", "the prefix length of fd00::/129 must be a number from 0 to 128"),
        ("10.0.0.0/", "the prefix length of 10.0.0.0/ must be a number from 0 to 32"),
        ("10.0.0.0/+8", "the prefix length of 10.0.0.0/+8 must be a number from 0 to 32"),
        ("10.0.0.0/08", "the prefix length of 10.0.0.0/08 must be a number from 0 to 32"),
        ("10.0.0.0/-1", "the prefix length of 10.0.0.0/-1 must be a number from 0 to 32"),
        ("10.0.0.0/8/8", "the prefix length of 10.0.0.0/8/8 must be a number from 0 to 32"),
        ("10.0.0.0/255.0.0.0", "the prefix length of 10.0.0.0/255.0.0.0 must be a number from 0 to 32"),
        ("10.1.2.3/8", "10.1.2.3/8 has bits set after its prefix; write 10.0.0.0/8"),
        ("fd00:1::1/32", "fd00:1::1/32 has bits set after its prefix; write fd00:1::/32"),
        ("::ffff:10.0.0.0/104", "::ffff:10.0.0.0/104 is an IPv4 network in IPv6 notation; write 10.0.0.0/8"),
        ("10.0/8", "10.0/8 is not a network, such as 10.0.0.0/8 or fd00::/8"),
        ("010.0.0.0/8", "010.0.0.0/8 is not a network, such as 10.0.0.0/8 or fd00::/8"),
        ("fe80::%eth0/64", "fe80::%eth0/64 is not a network, such as 10.0.0.0/8 or fd00::/8"),
        ("intranet", "intranet is not a network, such as 10.0.0.0/8 or fd00::/8"),
        ("", " is not a network, such as 10.0.0.0/8 or fd00::/8"),
        (
            "169.254.0.0/16",
            "169.254.0.0/16 cannot be allowed: link-local addresses and the metadata services of cloud providers are never reached"
        ),
        (
            "fe80::/64",
            "fe80::/64 cannot be allowed: link-local addresses and the metadata services of cloud providers are never reached"
        ),
        (
            "fd00:ec2::254/128",
            "fd00:ec2::254/128 cannot be allowed: link-local addresses and the metadata services of cloud providers are never reached"
        ),
    ])
    func `a text that is not a network is refused with the reason`(text: String, reason: String) {
        #expect(throws: OutboundNetworks.Refusal.self) { try OutboundNetworks([text]) }
        do { _ = try OutboundNetworks([text]) } catch { #expect(error.description == reason) }
    }

    // A network of all addresses would include loopback and link-local addresses.
    @Test(arguments: [
        "0.0.0.0/0", "::/0", "0.0.0.0/1", "126.0.0.0/7", "128.0.0.0/1", "8.8.8.0/24", "0.0.0.0/8", "224.0.0.0/4",
        "240.0.0.0/4", "10.0.0.0/7", "192.168.0.0/15", "f000::/4", "::/127", "::/128", "ff00::/8", "2000::/3",
        "2001:db8::/32", "64:ff9b::/96", "168.0.0.0/5", "fe00::/9",
    ])
    func `a network that does not lie within one private range is refused`(text: String) {
        do {
            _ = try OutboundNetworks([text])
            Issue.record("it was allowed")
        } catch {
            #expect(
                error.description
                    == "\(text) does not lie within one of the ranges that can be allowed: 10.0.0.0/8, 172.16.0.0/12, "
                    + "192.168.0.0/16, 100.64.0.0/10, 198.18.0.0/15, 127.0.0.0/8, fc00::/7, ::1/128. "
                    + "Public addresses need no option")
        }
    }

    @Test func `a network that is named twice is refused in any notation`() {
        for twice in [["10.0.0.0/8", "10.0.0.0/8"], ["fd00::/8", "FD00:0::/8"]] {
            do {
                _ = try OutboundNetworks(twice)
                Issue.record("it was allowed")
            } catch { #expect(error.description == "\(twice[1]) is named twice") }
        }
    }
}
