import CounterfoilClient
import CounterfoilClientTesting
import Foundation
import HTTPTypes
import TestSupport
import Testing

/// Tests of the trust of the transport: the authorities of the system or of the environment, and the host name.
@Suite(.timeLimit(.minutes(2)))
struct TransportTrustTests {
    private static func failure(
        _ url: String, _ environment: [String: String] = [:]
    ) async throws -> TransportFailure? {
        let request = TransportRequest(try EndpointURL(url))
        do {
            #if canImport(Darwin)
                _ = try await StandardTransport().send(request)
            #else
                _ = try await AsyncHTTPClientTransport(environment: environment).send(request)
            #endif
            return nil
        } catch { return error }
    }

    // TLS is verified; an untrusted certificate ends the exchange before anything is sent.
    @Test func `a certificate of an unknown authority is refused, and the remedy is named`() async throws {
        let authority = try TLSAuthority()
        let other = try TLSAuthority()
        try await authority.run { port in
            let origin = "https://127.0.0.1:\(port)"
            let failure = try await Self.failure("\(origin)/oauth2/token")
            #expect(
                failure?.description
                    == "the TLS certificate of \(origin) is not trusted: no authority that this system trusts issued it; if a private authority or a proxy did, name the file with the authority's certificate in SSL_CERT_FILE"
            )
            let own = try await Self.failure(
                origin, ["SSL_CERT_FILE": other.certificate, "SSL_CERT_DIR": other.folder])
            #expect(
                own
                    == .untrusted(
                        origin: origin,
                        reason: "none of the authorities in SSL_CERT_FILE and SSL_CERT_DIR issued it"))
        }
    }

    @Test func `SSL_CERT_FILE and SSL_CERT_DIR name the trusted authorities`() async throws {
        let authority = try TLSAuthority()
        let other = try TLSAuthority()
        try await authority.run { port in
            let origin = "https://localhost:\(port)"
            for environment in [
                ["SSL_CERT_FILE": authority.certificate], ["SSL_CERT_DIR": authority.folder],
                ["SSL_CERT_DIR": "/nonexistent:\(other.folder):\(authority.folder)"],
                ["SSL_CERT_FILE": other.certificate, "SSL_CERT_DIR": authority.folder],
            ] {
                let failure = try await Self.failure(origin, environment)
                #expect(failure == nil, "\(environment)")
            }
            for (environment, reason) in [
                (
                    ["SSL_CERT_FILE": "/nonexistent"],
                    "SSL_CERT_FILE names no readable file with certificates in PEM format: /nonexistent"
                ),
                (["SSL_CERT_DIR": "/nonexistent"], "SSL_CERT_DIR names no folder with certificates in PEM format"),
            ] {
                let failure = try await Self.failure(origin, environment)
                #expect(failure == .misconfigured(reason: reason))
            }
        }
    }

    @Test func `an expired certificate is refused with its date`() async throws {
        let authority = try TLSAuthority()
        let before = Date()
        try await authority.run(days: 0) { port in
            let origin = "https://127.0.0.1:\(port)"
            let days = [before, Date()].map { $0.formatted(.iso8601.year().month().day()) }
            let reasons = days.map { "it expired on \($0); check the clock of this device too" }
            let failure = try await Self.failure(origin, ["SSL_CERT_FILE": authority.certificate])
            #expect(reasons.map { .untrusted(origin: origin, reason: $0) }.contains(failure), "\(failure as Any)")
        }
    }

    @Test func `a certificate for another host is refused`() async throws {
        let authority = try TLSAuthority()
        try await authority.run(names: "DNS:id.example.com") { port in
            let origin = "https://127.0.0.1:\(port)"
            let failure = try await Self.failure(origin, ["SSL_CERT_FILE": authority.certificate])
            #expect(
                failure
                    == .untrusted(
                        origin: origin,
                        reason:
                            "it is for another host name; check the name, and sign in to this network in a browser if it requires that"
                    ))
        }
    }

    @Test func `a port without TLS is no matter of certificates`() async throws {
        try await ScriptedAuthorizationServer.run { server in
            let origin = server.address.replacing("http:", with: "https:")
            let failure = try await Self.failure(origin)
            #expect(
                failure
                    == .unreachable(
                        origin: origin, reason: "the server does not use TLS on this port; check the port"))
        }
    }
}
