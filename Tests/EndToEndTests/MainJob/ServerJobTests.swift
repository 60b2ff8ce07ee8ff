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

    // RFC 6749 §4.4, RFC 7523 §2.2
    @Test func `a job authenticates with its key and calls the API`() async throws {
        try await Site.make { site in
            try await site.addScope("photos.read", "See your photos and albums")
            let (keys, key) = (site.folder.path("keys.json"), site.folder.path("key.json"))
            try Data(Self.publicKeys.utf8).write(to: URL(fileURLWithPath: keys))
            try Data(Self.key.utf8).write(to: URL(fileURLWithPath: key))
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: key)
            let created = try await site.administer([
                "app", "create", "--type", "service", "--name", "Nightly", "--client-id", "nightly", "--jwks", keys,
                "--scope", "photos.read",
            ])
            #expect(created.status == 0, "\(created.errors)")
            try await site.serving {
                try await PhotoAPI.run(for: site) { api in
                    let job = try RunningProgram(
                        .nightlyJob, [site.issuer, "nightly", key, "\(api)/photos"], in: site.folder)
                    let ended = try await job.ended()
                    // The sample API accepts the token, and has photos of users only. A token that it does not accept
                    // is status 401.
                    #expect(ended.output == "\(api)/photos responded with status 403.\n", "\(ended.errors)")
                    #expect(ended.status == 1)

                    let stranger = try await RunningProgram(
                        .nightlyJob, [site.issuer, "stranger", key, "\(api)/photos"], in: site.folder
                    ).ended()
                    #expect(stranger.status == 1)
                    #expect(stranger.errors.contains("invalid_client"))
                }
            }
        }
    }
}
