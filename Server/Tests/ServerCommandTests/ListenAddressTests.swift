import HTTPListener
import Testing

@testable import counterfoil_server

/// The spellings of `--listen`, each of which names one place or is refused.
struct ListenAddressTests {
    @Test(
        arguments: [
            ("127.0.0.1:8080", "127.0.0.1", 8080), ("0.0.0.0:443", "0.0.0.0", 443), ("[::1]:8080", "::1", 8080),
            ("[::]:0", "::", 0), ("[fe80::1%eth0]:80", "fe80::1%eth0", 80), ("localhost:8080", "localhost", 8080),
            ("id.example.com.:65535", "id.example.com.", 65535), ("my_host-1:80", "my_host-1", 80),
        ] as [(String, String, Int)])
    func `an address or a name with a port is that address`(text: String, host: String, port: Int) throws {
        let address = try #require(try ListenOptions.Choice(text).address)
        #expect(address == .host(host, port: port))
    }

    @Test(arguments: [
        "127.1:8080", "0:8080", "2130706433:8080", "0x7f000001:8080", "0x7f.1:8080", "010.0.0.1:8080", "1.2.3.4.5:80",
        "256.0.0.1:80", "::1:8080", "[::1]", "[::1]8080", "[127.0.0.1]:80", "[localhost]:80", "[]:80", "[::g]:80",
        "127.0.0.1:+80", "127.0.0.1:-1", "127.0.0.1:65536", "127.0.0.1:000080", "127.0.0.1:", "127.0.0.1:http",
        "127.0.0.1", "8080", " 127.0.0.1:80", "127.0.0.1 :80", "127.0.0.1: 80", "http://127.0.0.1:80", "a b:80",
        "a..b:80", ".:80", "-a:80", "a/b:80", "*.example.com:80", "bücher.example:80", "127.0.0.1:٨٠", "UNIX:/a:80",
    ])
    func `a spelling that the resolver would read in another way is refused`(text: String) {
        #expect(throws: HostAndPort.Refusal.form) { try ListenOptions.Choice(text) }
        #expect(throws: HostAndPort.Refusal.form) { try HostAndPort(text) }
    }

    // The resolver takes `*` for the loopback address.
    @Test(arguments: [":8080", "*:8080"])
    func `every address must be named as 0.0.0.0 or [::]`(text: String) {
        #expect(throws: HostAndPort.Refusal.everyAddress) { try ListenOptions.Choice(text) }
        #expect(
            "\(HostAndPort.Refusal.everyAddress)"
                == "must be HOST:PORT; for every address of this machine, write 0.0.0.0:PORT for IPv4, or [::]:PORT")
    }

    @Test(arguments: ["unix:", "unix:relative.sock", "unix:./a", "systemd:", "systemd:a:b"])
    func `a socket needs an absolute path or a name`(text: String) {
        #expect(throws: (any Error).self) { try ListenOptions.Choice(text) }
    }
}
