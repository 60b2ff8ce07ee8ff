import CounterfoilServer
import CounterfoilStore
import Foundation
import Testing

/// The IP addresses that the server may connect to for a host name that a developer chose.
struct PublicAddressTests {
    private static func bytes(_ text: String) throws -> [UInt8] {
        var four = in_addr()
        if inet_pton(AF_INET, text, &four) == 1 { return withUnsafeBytes(of: four, Array.init) }
        var sixteen = in6_addr()
        try #require(inet_pton(AF_INET6, text, &sixteen) == 1)
        return withUnsafeBytes(of: sixteen, Array.init)
    }

    @Test(arguments: [
        "1.1.1.1", "9.255.255.255", "11.0.0.0", "93.184.215.14", "100.63.255.255", "100.128.0.0", "126.255.255.255",
        "128.0.0.1", "169.253.255.255", "169.255.0.0", "172.15.255.255", "172.32.0.0", "192.0.1.0", "192.0.3.0",
        "192.167.255.255", "192.169.0.0", "198.17.255.255", "198.20.0.0", "203.0.112.255", "203.0.114.0",
        "223.255.255.255", "2606:4700:4700::1111", "2a00:1450:4001:800::200e", "2001:200::1", "2001:4860:4860::8888",
        "2001:db7::1", "2003::1", "3ffe::1", "64:ff9b::101:101", "64:ff9b::5db8:d70e",
    ])
    func `public addresses are allowed`(text: String) throws {
        #expect(PublicAddress(try Self.bytes(text)) != nil)
    }

    // 169.254.169.254 is where cloud providers serve the secrets of a machine.
    @Test(arguments: [
        "0.0.0.0", "0.1.2.3", "10.0.0.1", "10.255.255.255", "100.64.0.1", "100.127.255.255", "127.0.0.1",
        "127.255.255.254", "169.254.169.254", "172.16.0.1", "172.31.255.255", "192.0.0.1", "192.0.2.1", "192.88.99.1",
        "192.168.0.1", "198.18.0.1", "198.19.255.255", "198.51.100.7", "203.0.113.9", "224.0.0.1", "239.255.255.250",
        "240.0.0.1", "255.255.255.255",
    ])
    func `special-purpose IPv4 addresses are refused, also inside an IPv6 address`(text: String) throws {
        let bytes = try Self.bytes(text)
        #expect(PublicAddress(bytes) == nil)
        let wellKnown = try Self.bytes("64:ff9b::").prefix(12)
        #expect(PublicAddress(wellKnown + bytes) == nil)
        let mapped = try Self.bytes("::ffff:0:0").prefix(12)
        #expect(PublicAddress(mapped + bytes) == nil)
    }

    @Test(arguments: [
        "::", "::1", "::ffff:1.1.1.1", "::1.1.1.1", "64:ff9b:1::101:101", "64:ff9b:0:0:0:1:101:101", "100::1",
        "2001::1", "2001:0:4136:e378:8000:63bf:3fff:fdd2", "2001:2::1", "2001:10::1", "2001:1ff::1", "2001:db8::1",
        "2001:db8:ffff::1", "2002:7f00:1::", "2002:101:101::1", "3fff::1", "3fff:fff::1", "4000::1", "5f00::1",
        "fc00::1", "fd00::1", "fdff::1", "fe80::1", "febf::1", "fec0::1", "ff02::1", "ff0e::1",
    ])
    func `special-purpose IPv6 addresses are refused`(text: String) throws {
        #expect(PublicAddress(try Self.bytes(text)) == nil)
    }

    @Test(arguments: [0, 3, 5, 15, 17]) func `other lengths are no address`(count: Int) {
        #expect(PublicAddress([UInt8](repeating: 1, count: count)) == nil)
    }

    @Test func `an address is written in a form that reads back as the same address`() throws {
        for text in ["93.184.215.14", "2606:4700:4700::1111", "2a00::1"] {
            let bytes = try Self.bytes(text)
            let address = try #require(PublicAddress(bytes))
            #expect(try Self.bytes(address.description) == bytes)
        }
    }
}
