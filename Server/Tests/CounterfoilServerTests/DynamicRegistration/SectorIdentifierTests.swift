import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import HTTPTypes
import Testing

@Suite("The sector of a client that registers itself")
struct SectorIdentifierTests {
    private static let sector = "https://sector.example.net/uris.json"
    private static let uris = ["https://one.example.net/cb", "https://two.example.net/cb"]

    private static func desk(_ list: String, status: Int = 200) async throws -> (RegistrationDesk, RegistrantFiles) {
        let files = RegistrantFiles()
        await files.publish(list, at: sector, status: status)
        return (try await RegistrationDesk(files: files), files)
    }

    private static func metadata(_ uris: [String] = uris) -> [String: Any] {
        ["redirect_uris": uris, "subject_type": "pairwise", "sector_identifier_uri": sector]
    }

    private static func subject(_ client: Registrant, at uri: String) async throws -> String {
        let tokens = try await client.tokens(at: uri)
        let idToken = try #require(tokens.idToken)
        return try #require(try IssuedTokens.parts(of: idToken.exposed).claims["sub"] as? String)
    }

    // OpenID Connect Core §8.1
    @Test func `clients with one sector_identifier_uri get the same subject identifier`() async throws {
        let (desk, files) = try await Self.desk(#"["https://one.example.net/cb", "https://two.example.net/cb"]"#)
        let both = try await desk.registered(Self.metadata())
        let one = try await desk.registered(Self.metadata([Self.uris[0]]))
        #expect(both.members["sector_identifier_uri"] as? String == Self.sector)
        let subject = try await Self.subject(both, at: Self.uris[1])
        #expect(try await Self.subject(one, at: Self.uris[0]) == subject)
        #expect(subject != desk.test.alice.id.rawValue)
        #expect(await files.requests == [Self.sector])
        // The host of the redirect URI is another sector.
        let alone = try await desk.registered(["redirect_uris": [Self.uris[0]], "subject_type": "pairwise"])
        #expect(try await Self.subject(alone, at: Self.uris[0]) != subject)
    }

    // A device gets tokens without a redirect URI, so a host in its registration proves nothing.
    @Test func `a client with the device grant gets the identifiers of no other sector`() async throws {
        let (desk, _) = try await Self.desk(#"["https://one.example.net/cb"]"#)
        let owner = try await desk.registered(Self.metadata([Self.uris[0]]))
        var stranger = Self.metadata([Self.uris[0]])
        stranger["application_type"] = "native"
        stranger["grant_types"] = ["authorization_code", "urn:ietf:params:oauth:grant-type:device_code"]
        let pretender = try await desk.registered(stranger)
        #expect(try await Self.subject(pretender, at: Self.uris[0]) != Self.subject(owner, at: Self.uris[0]))
    }

    // OpenID Connect Registration §5
    @Test(arguments: [
        #"["https://one.example.net/cb"]"#, #"["https://one.example.net/cb", "https://two.example.net/cb/"]"#, "[]",
        #"{"uris": ["https://one.example.net/cb", "https://two.example.net/cb"]}"#, "[1]", "",
    ])
    func `a file that does not list every redirect URI is refused, and read again`(list: String) async throws {
        let (desk, files) = try await Self.desk(list)
        #expect(try await desk.refusal(of: Self.metadata()).hasPrefix("sector_identifier_uri does not"))
        await files.publish(#"["https://two.example.net/cb", "https://one.example.net/cb"]"#, at: Self.sector)
        _ = try await desk.registered(Self.metadata())
    }

    @Test func `a sector_identifier_uri that cannot be fetched is refused`() async throws {
        let (desk, _) = try await Self.desk("", status: 302)
        #expect(try await desk.refusal(of: Self.metadata()).contains("answered 302"))
        var elsewhere = Self.metadata()
        elsewhere["sector_identifier_uri"] = "https://unknown.example.net/"
        #expect(try await desk.refusal(of: elsewhere).contains("does not exist"))
        elsewhere["sector_identifier_uri"] = "http://sector.example.net/uris.json"
        #expect(try await desk.refusal(of: elsewhere).contains("must be an https URL"))
        let closed = try await RegistrationDesk()
        #expect(try await closed.refusal(of: Self.metadata()).contains("not supported"))
    }

    // OpenID Connect Core §12.2
    @Test func `a change of the sector is refused`() async throws {
        let (desk, _) = try await Self.desk(#"["https://one.example.net/cb", "https://two.example.net/cb"]"#)
        let client = try await desk.registered(Self.metadata())
        #expect(try await client.replace(Self.metadata([Self.uris[0]])).status == .ok)
        let reply = try await client.replace(["redirect_uris": [Self.uris[0]], "subject_type": "pairwise"])
        #expect(reply.status == .badRequest)
        #expect(try reply.members["error"] as? String == "invalid_client_metadata")
    }
}
