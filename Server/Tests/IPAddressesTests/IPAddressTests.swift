import Testing

@testable import IPAddresses

struct IPAddressTests {
    @Test(arguments: [
        ("192.0.2.1", "192.0.2.1"), ("::ffff:192.0.2.1", "192.0.2.1"), ("::1", "::1"),
        ("2001:db8:2:1:a:b:c:d", "2001:db8:2:1::/64"), ("2001:db8::7", "2001:db8:0:0::/64"),
    ])
    func `the source of an address is the IPv4 address, or the IPv6 network of 64 bits`(
        text: String, source: String
    ) throws {
        #expect(try #require(IPAddress(text)).source == source)
    }

    @Test(arguments: ["", "unix", "192.0.2", "192.0.2.256", "[::1]", "::1/64", "2001:db8::g"])
    func `another text is no address`(text: String) {
        #expect(IPAddress(text) == nil)
    }

    @Test(arguments: [
        ("10.0.0.0/8", "10.1.2.3", true), ("10.0.0.0/8", "11.0.0.1", false), ("192.0.2.1", "192.0.2.1", true),
        ("fd00::/8", "fdff::1", true), ("fd00::/8", "fe00::1", false), ("10.0.0.0/8", "::a00:1", false),
    ])
    func `a network contains the addresses with its prefix`(
        network: String, address: String, isContained: Bool
    ) throws {
        #expect(try #require(IPNetwork(network)).contains(try #require(IPAddress(address))) == isContained)
    }

    @Test(arguments: ["10.0.0.1/8", "10.0.0.0/33", "10.0.0.0/", "10.0.0.0/-1", "example.com"])
    func `another text is no network`(text: String) {
        #expect(IPNetwork(text) == nil)
    }
}
