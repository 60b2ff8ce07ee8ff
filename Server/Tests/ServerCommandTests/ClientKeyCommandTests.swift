import Foundation
import TestSupport
import Testing

/// `--jwks`: a client that authenticates with its own keys.
@Suite(.timeLimit(.minutes(10)))
struct ClientKeyCommandTests {
    /// The public key of RFC 7515 appendix A.3.
    private static let key = """
        {"kty":"EC","crv":"P-256","x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU",\
        "y":"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0","kid":"2027-01"}
        """

    private static func object(_ text: String) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
    }

    private static func create(_ site: Site, type: String = "service", _ document: String) async throws -> EndedProgram
    {
        let file = site.folder.path("keys.json")
        try Data(document.utf8).write(to: URL(fileURLWithPath: file))
        return try await site.administer([
            "app", "create", "--type", type, "--name", "Nightly", "--jwks", file, "--json",
        ])
    }

    // A client has either keys or secrets.
    @Test func `a client with keys gets no secret`() async throws {
        try await Site.make { site in
            let created = try await Self.create(site, #"{"keys":[\#(Self.key)]}"#)
            #expect(created.status == 0)
            let client = try Self.object(created.output)
            #expect(client["client_secret"] == nil)
            #expect(client["token_endpoint_auth_method"] as? String == "private_key_jwt")
            let keys = try #require((client["jwks"] as? [String: Any])?["keys"] as? [[String: String]])
            #expect(keys.map { $0["kid"] } == ["2027-01"])
            #expect(keys.allSatisfy { $0["d"] == nil })

            let clientID = try #require(client["client_id"] as? String)
            let secret = try await site.administer(["app", "secret", clientID])
            #expect(secret.status == 3)
            #expect(secret.errors.contains("authenticates with its keys"))
            let cleared = try await site.administer(["app", "edit", clientID, "--jwks", "", "--json"])
            #expect(
                try Self.object(cleared.output)["token_endpoint_auth_method"] as? String == "client_secret_basic")
            #expect(try await site.administer(["app", "secret", clientID]).status == 0)
        }
    }

    // The operator approves the scopes of the registration command, and no scope that is added later.
    @Test func `an operator approves the scopes that a service requests without a user`() async throws {
        try await Site.make { site in
            try await site.addScope("photos.read", "See your photos and albums")
            try await site.addScope("photos.write", "Add and change photos")
            let created = try await site.administer([
                "app", "create", "--type", "service", "--name", "Nightly", "--scope", "openid", "--scope",
                "photos.read", "--json",
            ])
            let clientID = try #require(try Self.object(created.output)["client_id"] as? String)
            #expect(try Self.object(created.output)["machine_scope"] as? String == "photos.read")
            func edit(_ arguments: String...) async throws -> (machine: String?, pending: String?) {
                let ended = try await site.administer(["app", "edit", clientID, "--json"] + arguments)
                let client = try Self.object(ended.output)
                return (client["machine_scope"] as? String, client["pending_machine_scope"] as? String)
            }
            let wider = try await edit("--scope", "photos.read", "--scope", "photos.write")
            #expect(wider.machine == "photos.read" && wider.pending == "photos.write")
            let list = try await site.administer(["app", "list"])
            #expect(list.output.contains("awaiting approval: photos.write"))
            let approved = try await edit("--machine-scope", "photos.write")
            #expect(approved.machine == "photos.write" && approved.pending == "photos.read")
            let shown = try await site.administer(["app", "show", clientID])
            #expect(
                shown.output.contains("  without a user: photos.write\n  awaiting approval: photos.read"))
            #expect(try await edit("--machine-scope", "").machine == "")
            let refused = try await site.administer(["app", "edit", clientID, "--machine-scope", "openid"])
            #expect(refused.status == 3)
            #expect(refused.errors.hasPrefix("counterfoil-server: --machine-scope: "))
            let audit = try await site.administer(["audit", "--kind", "machine-access"])
            #expect(audit.output.contains("approved photos.write, withdrawn photos.read"))
        }
    }

    // A key set with an unsupported key or with secret key material is refused and not partly used.
    @Test(arguments: [
        "", "{}", "[]", #"{"keys":[]}"#, #"{"keys":[{"kty":"oct","k":"AAAA"}]}"#,
        #"{"keys":[{"kty":"EC","crv":"P-384"}]}"#,
        #"{"keys":[KEY,KEY]}"#, #"{"keys":[KEY,{"kty":"oct","k":"AAAA"}]}"#, "not JSON",
    ])
    func `a document with any other content is refused`(document: String) async throws {
        try await Site.make { site in
            let ended = try await Self.create(site, document.replacing("KEY", with: Self.key))
            #expect(ended.status == 3)
            #expect(ended.output.isEmpty)
            #expect(ended.errors.hasPrefix("counterfoil-server: --jwks: "))
        }
    }

    @Test(arguments: ["native", "device"])
    func `a public client has no keys either`(type: String) async throws {
        try await Site.make { site in
            let ended = try await Self.create(site, type: type, #"{"keys":[\#(Self.key)]}"#)
            #expect(ended.status == 3)
            #expect(ended.errors.contains("--jwks: Only a web app or a service authenticates with keys."))
        }
    }
}
