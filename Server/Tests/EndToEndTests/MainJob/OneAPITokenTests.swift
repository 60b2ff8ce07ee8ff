import CounterfoilClient
import CounterfoilProtocol
import Foundation
import TestSupport
import Testing

/// Tokens for one API each, from one sign-in at the real server for two.
@Suite(.timeLimit(.minutes(10)))
struct OneAPITokenTests {
    private static let photos = "https://photos.example.com"
    private static let mail = "https://mail.example.com"

    private struct Claims: Decodable {
        let aud: [String]
        let scope: String

        private enum CodingKeys: CodingKey {
            case aud
            case scope
        }

        init(from decoder: any Decoder) throws {
            let values = try decoder.container(keyedBy: CodingKeys.self)
            scope = try values.decode(String.self, forKey: .scope)
            // RFC 7519 §4.1.3: one audience may be a string.
            if let one = try? values.decode(String.self, forKey: .aud) {
                aud = [one]
            } else {
                aud = try values.decode([String].self, forKey: .aud)
            }
        }

        /// The claims of an access token that the command line printed.
        init(of printed: EndedProgram) throws {
            #expect(printed.status == 0, "\(printed.errors)")
            let parts = printed.output.split(separator: ".")
            let payload = try #require(parts.count == 3 ? Base64URL.decode(String(parts[1])) : nil)
            self = try JSONDecoder().decode(Claims.self, from: Data(payload))
        }
    }

    // RFC 8707 §2.2, RFC 9068 §3
    @Test func `one sign-in for two APIs gives a token for each, which is requested once`() async throws {
        try await Site.make { site in
            try await site.add(.alice)
            for (uri, name, scope) in [(Self.photos, "Photos", "photos.read"), (Self.mail, "Mail", "mail.send")] {
                try await site.addScope(scope, "Use \(name)")
                let created = try await site.administer(["resource", "create", uri, "--name", name, "--scope", scope])
                #expect(created.status == 0, "\(created.errors)")
            }
            let clientID = try await site.registerClient(
                scopes: ["openid", "photos.read", "mail.send"], options: ["--refresh-tokens", "always"])
            try await site.serving {
                let device = try Device(in: site.folder)
                let login = try device.beginLogin(
                    site, clientID: clientID, "--scope", "openid photos.read mail.send", "--resource", Self.photos,
                    "--resource", Self.mail)
                let ended = try await login.whileRunning {
                    var browser = UserAgent()
                    _ = try await Account.alice.allow(try await device.openedAddress(), in: &browser)
                    return try await login.ended()
                }
                #expect(ended.status == 0, "\(ended.errors)")

                let whole = try await device.counterfoil("token")
                #expect(try Claims(of: whole).aud.sorted() == [Self.mail, Self.photos])
                var printed: [String] = []
                for (uri, scope) in [(Self.photos, "photos.read"), (Self.mail, "mail.send")] {
                    let token = try await device.counterfoil("token", "--resource", uri)
                    let claims = try Claims(of: token)
                    #expect(claims.aud == [uri] && claims.scope == scope)
                    printed.append(token.output)
                }
                for (uri, token) in zip([Self.photos, Self.mail], printed) {
                    #expect(try await device.counterfoil("token", "--resource", uri).output == token)
                }
                #expect(try await device.counterfoil("token").output == whole.output)

                let narrow = try await device.counterfoil("token", "--scope", "mail.send")
                #expect(try Claims(of: narrow).scope == "mail.send")
                let other = try await device.counterfoil("token", "--resource", site.issuer)
                #expect(other.status == 64 && other.output.isEmpty, "\(other.errors)")

                // The whole sign-in can be refreshed as before.
                let store = EncryptedFileTokenStore(file: device.tokenFile)
                let kept = try #require(try await store.credentials(of: .standard))
                _ = try await TokenSession(ofAnyClientIn: store).refreshed(replacing: kept.accessToken)
                #expect(try await device.counterfoil("logout").output.contains("revoked at the server"))
            }
        }
    }
}
