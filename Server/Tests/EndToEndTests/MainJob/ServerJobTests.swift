import Foundation
import TestSupport
import Testing

/// A server job without a user, at the real server and the sample API.
@Suite(.timeLimit(.minutes(10)))
struct ServerJobTests {
    /// The private key of the service, with the `kid` under which the server knows it.
    private static let key = """
        {"kty":"EC","crv":"P-256","kid":"2026-11","d":"UwOyHXKmSVouZd0XAqlSu-D-rcPLlV_K-ARH7TNmu_I"}
        """
    private static let publicKeys = """
        {"keys":[{"kty":"EC","crv":"P-256","kid":"2026-11","x":"my9RVyEbxUNHbmtNwTP8eToVwEgN80i3YntUs2Xuy5o",\
        "y":"LMd1EL2Bn74cfz0Uat95qM1UI_CtM3T5i4eD3_yQD0Q"}]}
        """

    /// Registers the service with its public keys, and writes its private key to a file.
    private static func register(at site: Site, key: String, publicKeys: String) async throws -> String {
        try await site.addScope("photos.read", "See your photos and albums")
        let (keys, file) = (site.folder.path("keys.json"), site.folder.path("key"))
        try Data(publicKeys.utf8).write(to: URL(fileURLWithPath: keys))
        try Data(key.utf8).write(to: URL(fileURLWithPath: file))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file)
        let created = try await site.administer([
            "app", "create", "--type", "service", "--name", "Nightly", "--client-id", "nightly", "--jwks", keys,
            "--scope", "photos.read",
        ])
        #expect(created.status == 0, "\(created.errors)")
        return file
    }

    private static func run(
        at site: Site, as clientID: String = "nightly", key: String, _ url: String
    ) async throws -> EndedProgram {
        try await RunningProgram(.nightlyJob, [site.issuer, clientID, key, url], in: site.folder).ended()
    }

    // RFC 6749 §4.4, RFC 7523 §2.2
    @Test func `a job authenticates with its key and calls the API`() async throws {
        try await Site.make { site in
            let key = try await Self.register(at: site, key: Self.key, publicKeys: Self.publicKeys)
            try await site.serving {
                try await PhotoAPI.run(for: site) { api in
                    let ended = try await Self.run(at: site, key: key, "\(api)/statistics")
                    #expect(ended.output == "\(api)/statistics responded with status 200.\n", "\(ended.errors)")
                    #expect(ended.status == 0)

                    // The sample API accepts the token, and has photos of users only. A token that it does not accept
                    // is status 401.
                    let refused = try await Self.run(at: site, key: key, "\(api)/photos")
                    #expect(refused.output == "\(api)/photos responded with status 403.\n", "\(refused.errors)")
                    #expect(refused.status == 1)

                    let stranger = try await Self.run(at: site, as: "stranger", key: key, "\(api)/statistics")
                    #expect(stranger.status == 1)
                    #expect(stranger.errors.contains("invalid_client"))
                }
            }
        }
    }

    // RFC 7518 §3.3: the key is a file as openssl writes it.
    @Test func `a job with an RSA key signs its assertion with RS256`() async throws {
        try await Site.make { site in
            let key = try await Self.register(
                at: site, key: RSAKeyText.pkcs8, publicKeys: RSAKeyText.publicKeySet)
            try await site.serving {
                try await PhotoAPI.run(for: site) { api in
                    let ended = try await Self.run(at: site, key: key, "\(api)/statistics")
                    #expect(ended.output == "\(api)/statistics responded with status 200.\n", "\(ended.errors)")
                    #expect(ended.status == 0)
                }
            }
        }
    }
}
