import CounterfoilConsole
@_spi(Counterfoil) import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import HTTPTypes
import Testing

/// `/admin/users/{user_id}/claims`: the groups and attributes of a user, and the preview of what an app gets.
struct UserAttributesTests {
    private let test: TestServer
    private var administrator: Developer
    private let path: String

    init() async throws {
        test = try await TestServer()
        administrator = try await Developer("root", of: test, role: .administrator)
        path = "/admin/users/\(test.alice.id)/claims"
    }

    private mutating func save(_ groups: String, _ attributes: String, _ revision: String? = nil) async throws -> Reply
    {
        let page = try await administrator.browser.open(path).userAttributesPage
        let form = FormParameters([
            "ticket": page.ticket, "revision": revision ?? page.revision, "groups": groups,
            "user_attributes": attributes,
        ])
        return try await administrator.browser.submit(form, to: page.action)
    }

    @Test mutating func `an administrator sets groups and attributes, which the user sees in the account`() async throws
    {
        let page = try await save(" staff \r\neditors\nstaff\n", #"{"floor": 3, "department": "Sales"}"#)
            .userAttributesPage
        #expect(page.notice == "The groups and attributes are saved.")
        #expect(page.groups.value == "editors\nstaff")
        let stored = try await test.store.attributes(of: test.alice.id)
        #expect(stored.groups == Set(["staff", "editors"].compactMap { GroupName($0) }))
        let details = try await test.store.audit(AuditQuery(kind: .account)).compactMap(\.event.detail)
        let change = "changed the groups and attributes, gained: editors staff, attributes: department floor"
        #expect(details.filter { $0.hasSuffix(change) }.count == 2)
        let account = try await administrator.browser.open("/admin/users/\(test.alice.id)").userAccountPage
        #expect(account.attributes?.groups == ["editors", "staff"])
        #expect(account.attributes?.rows.map(\.value) == ["Sales", "3"])

        var browser = test.browser()
        try await browser.signInToConsole(username: "alice")
        let own = try await browser.open("/account")
        #expect((own.page as? AccountPage)?.attributes == account.attributes)
        #expect(try own.html().contains("department"))
        // The other administrator has changed something since the page was shown.
        let late = try await save("", "", "former")
        #expect(try late.status == .conflict && late.userAttributesPage.groups.value.isEmpty)
        #expect(try await test.store.attributes(of: test.alice.id) == stored)
    }

    private static let refusedGroups: [String] = [
        "a\u{7}b", "a\u{202E}b", String(repeating: "g", count: 65),
        (0...100).map { "g\($0)" }.joined(separator: "\n"),
    ]
    private static let refusedAttributes: [String] = [
        "[]", #"{"email": "root@example.com"}"#, #"{"sub": "per_1"}"#, #"{"groups": ["admins"]}"#,
        #"{"two words": 1}"#, #"{"a": "1", "a": "2"}"#, #"{"a": null}"#, #"{"a": {"b": 1}}"#, #"{"a": [1]}"#,
        #"{"a": 0.5}"#, #"{"a": 9007199254740993}"#, #"{"a": "\u0000"}"#,
        "{\"a\": \"" + String(repeating: "v", count: 4096) + "\"}", "{\"a\": " + String(repeating: "[", count: 10_000),
        "{" + (0...32).map { "\"a\($0)\": 1" }.joined(separator: ", ") + "}",
    ]

    // SEC-873
    @Test(
        arguments: refusedGroups.map { ($0, "", "groups") } + refusedAttributes.map { ("", $0, "user_attributes") }
            as [(String, String, String)])
    mutating func `what is not allowed is marked at its field, and nothing is stored`(
        groups: String, attributes: String, field: String
    ) async throws {
        let reply = try await save(groups, attributes)
        #expect(reply.status == .badRequest)
        let page = try reply.userAttributesPage
        #expect(page.problems.compactMap(\.field) == [field])
        #expect(page.attributes.value == attributes)
        #expect(try await test.store.attributes(of: test.alice.id).isEmpty)
    }

    // SEC-874
    @Test mutating func `no other user sees the page or changes anything`() async throws {
        var browser = test.browser()
        try await browser.signInToConsole(username: "alice")
        #expect(try await browser.send(.get, to: path).status == .notFound)
        let form = FormParameters(["groups": "admins", "user_attributes": "", "revision": ""])
        #expect(try await browser.send(.post, to: path, form: form).status == .notFound)
        let query = path + "?groups=admins&user_attributes="
        _ = try await administrator.browser.open(query)
        #expect(try await test.store.attributes(of: test.alice.id).isEmpty)
    }

    @Test mutating func `the preview is what the app gets`() async throws {
        let scope = ScopeDefinition(
            token: try #require(Scope.Token("directory")), description: "See your department",
            claims: ReleasedClaims(names: [.groups], places: [.idToken, .userInfo]))
        #expect(try await test.store.addScope(scope) == .added)
        var policy = ClientPolicy.standard(for: .native)
        policy.isVouchedFor = true
        policy.subjectType = .pairwise
        policy.putsUserClaimsInIDToken = true
        let client = try await test.register(
            "Stay", redirectURIs: ["http://127.0.0.1/callback"], scope: "openid profile directory", policy: policy)
        _ = try await save("staff", "{\"department\": \"Sales\"}")
        let before = try await preview(of: client.id.rawValue)
        #expect(!before.isAllowed && before.scope == "openid profile directory")
        #expect(try Self.members(before.idToken)["groups"] as? [String] == ["staff"])

        let tokens = try await Attempt(test, by: client, for: "openid directory").tokens()
        let shown = try await preview(of: client.id.rawValue)
        #expect(shown.isAllowed && shown.scope == "openid directory")
        let signed = try #require(tokens.idToken)
        let payload = try #require(signed.exposed.split(separator: ".").dropFirst().first)
        let claims = String(decoding: try #require(Base64URL.decode(String(payload))), as: UTF8.self)
        let issued = try Self.members(claims)
        let idToken = try Self.members(shown.idToken)
        #expect(Set(idToken.keys) == ["sub", "groups"])
        #expect(idToken["sub"] as? String == issued["sub"] as? String)
        #expect(idToken["groups"] as? [String] == issued["groups"] as? [String])
        #expect(try Set(Self.members(shown.accessToken).keys) == ["sub"])
        let userInfo = await test.send(
            .get, to: .userInfo, fields: [.authorization: "Bearer \(tokens.accessToken.exposed)"])
        #expect(
            NSDictionary(dictionary: try Self.members(shown.userInfo)) == NSDictionary(dictionary: try userInfo.members)
        )

        let unknown = try await administrator.browser.open(path + "?client_id=app_nobody")
        #expect(try unknown.userAttributesPage.problems.map(\.field) == ["client_id"])
    }

    private mutating func preview(of client: String) async throws -> UserAttributesPage.Preview {
        let page = try await administrator.browser.open("\(path)?client_id=\(client)").userAttributesPage
        return try #require(page.preview)
    }

    private static func members(_ json: String?) throws -> [String: Any] {
        let bytes = Data(try #require(json).utf8)
        return try #require(try JSONSerialization.jsonObject(with: bytes) as? [String: Any])
    }
}
