import CounterfoilClient
import CounterfoilProtocol
import Foundation
import TestSupport
import Testing

/// A user who stays signed in, with the released programs.
@Suite(.timeLimit(.minutes(10)))
struct StayingSignedInTests {
    @Test func `a session is refreshed, identified by its user, and ended at the server`() async throws {
        try await Site.make { site in
            try await site.add(.alice)
            try await site.addScope("photos.read", "See your photos and albums")
            let clientID = try await site.registerClient(options: ["--refresh-tokens", "always"])
            try await site.serving {
                let device = try Device(in: site.folder)
                #expect(try await device.signIn(.alice, at: site, clientID: clientID).status == 0)
                let first = try await device.counterfoil("token").output

                let store = EncryptedFileTokenStore(file: device.tokenFile)
                let kept = try #require(try await store.credentials(of: .standard))
                let session = TokenSession(ofAnyClientIn: store)
                let fresh = try await session.refreshed(replacing: kept.accessToken)
                #expect(fresh.refreshToken != kept.refreshToken)
                #expect(try await device.counterfoil("token").output == "\(fresh.accessToken.exposed)\n")
                #expect(first != "\(fresh.accessToken.exposed)\n")

                let whoami = try await device.counterfoil("whoami")
                #expect(whoami.status == 0)
                #expect(whoami.output.contains("sub: "))
                #expect(try await device.counterfoil("profiles").output.contains("default: "))

                #expect(try await device.counterfoil("logout").output.contains("revoked at the server"))
                try await store.save(fresh, as: .standard)
                let ended = await #expect(throws: SessionError.self) {
                    try await TokenSession(ofAnyClientIn: store).refreshed(replacing: fresh.accessToken)
                }
                guard case .ended? = ended else {
                    Issue.record("it went on: \(String(describing: ended))")
                    return
                }
            }
        }
    }

    // RFC 8414 §3.3, RFC 9207 §2, RFC 6749 §5.2
    @Test func `the doctor finds no fault with this server`() async throws {
        try await Site.run { site, clientID in
            let device = try Device(in: site.folder)
            let doctor = try await device.counterfoil(
                "doctor", site.issuer, "--client-id", clientID, "--scope", "openid photos.read")
            #expect(doctor.status == 0, "\(doctor.output)")
            #expect(
                doctor.output.contains(
                    "ok     the authorization endpoint does not redirect to an unregistered redirect URI"))
            #expect(doctor.output.contains("ok     the authorization endpoint responds correctly (login_required)"))
            #expect(doctor.output.contains("\n0 faults, "))
        }
    }
}
