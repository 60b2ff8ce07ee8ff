import CounterfoilConsole
import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import CounterfoilTokens
import HTTPTypes
import Testing

/// `/admin/scopes` and `/admin/apis`, on which administrators manage scopes and APIs.
struct RegistryPagesTests {
    private static let token = Scope.Token("photos.read") ?? .openID

    private static func administrator(of test: TestServer) async throws -> Developer {
        try await Developer("ada", of: test, role: .administrator)
    }

    private static func scope(_ test: TestServer) async throws -> ScopeDefinition? {
        try await test.store.scopes().first { $0.token == token }
    }

    private static func form(_ page: ScopeFormPage, _ fields: [String: String]) -> FormParameters {
        fields.sorted { $0.key < $1.key }.reduce(
            FormParameters(["ticket": page.ticket, "revision": page.revision])
        ) { $0.adding($1.key, $1.value) }
    }

    private static func form(_ page: APIFormPage, _ fields: [String: String]) -> FormParameters {
        fields.sorted { $0.key < $1.key }.reduce(
            FormParameters(["ticket": page.ticket, "revision": page.revision])
        ) { $0.adding($1.key, $1.value) }
    }

    @Test func `an administrator creates a scope with texts, and the event names the administrator`() async throws {
        let test = try await TestServer()
        var administrator = try await Self.administrator(of: test)
        let page = try await administrator.browser.open("/admin/scopes/new").scopeFormPage
        let form = Self.form(
            page,
            [
                "name": "albums.read", "text_en": "See your albums", "text_de": "Ihre Alben sehen", "text_nb": " ",
                "listed": "on",
            ])
        let list = try await administrator.browser.submit(form, to: page.action).scopesPage
        #expect(list.notice != nil)
        let row = try #require(list.rows.first { $0.name == "albums.read" })
        #expect(row.text == "See your albums" && row.languages == "en, de" && row.isListed && !row.isStandard)
        let stored = try #require(try await test.store.scopes().first { $0.token.rawValue == "albums.read" })
        #expect(stored.texts == [.german: "Ihre Alben sehen"])
        let event = try #require(try await test.store.audit(AuditQuery(kind: .setting)).first?.event)
        #expect(event.detail == "created the scope albums.read" && event.userID != nil)
    }

    // SEC-796
    @Test(arguments: [
        ("openid", "Sign in", "name"), ("offline_access", "Stay", "name"), ("photos.read", "Again", "name"),
        ("two words", "Text", "name"), ("", "Text", "name"), ("albums.read", "", "text_en"),
        ("albums.read", "See\u{202E}all", "text_en"), ("albums.read", "See\nall", "text_en"),
        ("albums.read", String(repeating: "a", count: 201), "text_en"),
    ])
    func `an invalid scope is marked at its field, with the typed values`(
        name: String, text: String, field: String
    ) async throws {
        let test = try await TestServer()
        var administrator = try await Self.administrator(of: test)
        let before = try await test.store.scopes()
        let page = try await administrator.browser.open("/admin/scopes/new").scopeFormPage
        let reply = try await administrator.browser.submit(
            Self.form(page, ["name": name, "text_en": text, "text_fr": "Voir"]), to: page.action)
        #expect(reply.status == .badRequest)
        let again = try reply.scopeFormPage
        #expect(again.problems.map(\.field) == [field])
        #expect(again.name?.value == name)
        #expect(again.texts.first { $0.language == "fr" }?.field.value == "Voir")
        #expect(try await test.store.scopes() == before)
    }

    private static let tooMany = (0...33).map { "c\($0)" }.joined(separator: " ")

    @Test(
        arguments: [
            ("groups department", ["id_token"], []), ("", [], []), ("groups", [], ["claim_places"]),
            ("email", ["userinfo"], ["claims"]), ("omitted_claims", ["userinfo"], ["claims"]),
            ("a\"b", ["userinfo"], ["claims"]), (tooMany, ["userinfo"], ["claims"]),
        ] as [(String, [String], [String])])
    func `a scope releases claims whose names the standards do not reserve`(
        claims: String, places: [String], fields: [String]
    ) async throws {
        let name = "directory"
        let test = try await TestServer()
        var administrator = try await Self.administrator(of: test)
        let page = try await administrator.browser.open("/admin/scopes/new").scopeFormPage
        var form = Self.form(page, ["name": name, "text_en": "See your department", "claims": claims])
        for place in places { form.append("claim_places", place) }
        let reply = try await administrator.browser.submit(form, to: page.action)
        let stored = try await test.store.scopes().first { $0.token.rawValue == name }
        guard fields.isEmpty else {
            #expect(try reply.scopeFormPage.problems.compactMap(\.field) == fields)
            #expect(stored == nil)
            return
        }
        #expect(stored?.claims.names == Set(claims.split(separator: " ").compactMap { ClaimName(String($0)) }))
        #expect(stored?.claims.places == Set(places.compactMap(ReleasedClaims.Place.init(rawValue:))))
        let event = try #require(try await test.store.audit(AuditQuery(kind: .setting)).first?.event)
        #expect(event.detail?.contains("claims: department groups in id_token") == !claims.isEmpty)
    }

    // SEC-796
    @Test func `markup in a text is shown as it is written`() async throws {
        let test = try await TestServer()
        var administrator = try await Self.administrator(of: test)
        let page = try await administrator.browser.open("/admin/scopes/new").scopeFormPage
        let reply = try await administrator.browser.submit(
            Self.form(page, ["name": "albums.read", "text_en": "See <b>albums</b>"]), to: page.action)
        #expect(try reply.html().contains("See &lt;b&gt;albums"))
        #expect(try reply.html().contains("<b>albums</b>") == false)
    }

    // SEC-797
    @Test func `a scope that another administrator changed meanwhile is not overwritten`() async throws {
        let test = try await TestServer()
        var administrator = try await Self.administrator(of: test)
        let page = try await administrator.browser.open("/admin/scopes/edit?scope=photos.read").scopeFormPage
        let former = try #require(try await Self.scope(test))
        var other = former
        other.texts = [.german: "Ihre Fotos sehen"]
        #expect(try await test.store.updateScope(other, from: former) == .updated)
        let reply = try await administrator.browser.submit(
            Self.form(page, ["text_en": "See all photos"]), to: page.action)
        #expect(reply.status == .conflict)
        let again = try reply.scopeFormPage
        #expect(again.texts.first?.field.value == "See all photos")
        #expect(try await Self.scope(test) == other)
        _ = try await administrator.browser.submit(
            Self.form(again, ["text_en": "See all photos"]), to: again.action
        ).scopesPage
        #expect(try await Self.scope(test)?.description == "See all photos")
    }

    // SEC-798
    @Test func `a scope in use is deleted only if it is removed from what uses it`() async throws {
        let test = try await TestServer()
        let api = try await test.addAPI()
        var administrator = try await Self.administrator(of: test)
        let path = "/admin/scopes/delete?scope=photos.read"
        let page = try await administrator.browser.open(path).deleteRecordPage
        #expect(page.uses.contains { $0.id == api.resource.resource.rawValue })
        #expect(page.removesFromAll?.isOn == false)
        let refused = try await administrator.browser.submit(
            FormParameters(["ticket": page.ticket]), to: page.action)
        #expect(refused.status == .conflict)
        let again = try refused.deleteRecordPage
        #expect(again.problems.map(\.field) == ["remove_from_all"])
        #expect(try await Self.scope(test) != nil)
        _ = try await administrator.browser.submit(
            FormParameters(["ticket": again.ticket, "remove_from_all": "on"]), to: again.action
        ).scopesPage
        #expect(try await Self.scope(test) == nil)
        #expect(try await administrator.browser.open("/admin/scopes/delete?scope=openid").status == .notFound)
    }

    @Test func `an administrator registers an API, and its secret is shown once`() async throws {
        let test = try await TestServer()
        var administrator = try await Self.administrator(of: test)
        let page = try await administrator.browser.open("/admin/apis/new").apiFormPage
        let form = Self.form(
            page,
            [
                "uri": "https://albums.example.com", "name": "Albums", "scope": "photos.read", "jwt_type": "jwt",
            ])
        let created = try await administrator.browser.submit(form, to: page.action).apiPage
        let secret = try #require(created.newSecret)
        let api = try #require(try await test.store.resource(try Resource("https://albums.example.com")))
        #expect(api.tokenType == .jwt && api.scope == Scope([Self.token]))
        #expect(created.values.contains { $0.value == "https://albums.example.com" })
        let recipe = try #require(created.configurations.first { $0.file == "API.swift" })
        #expect(recipe.text.contains("tokenType: .jwt") && recipe.text.contains("\"photos.read\""))
        #expect(created.configurations.allSatisfy { !$0.text.contains(secret) })
        let shown = try await administrator.browser.open(created.action).apiPage
        #expect(shown.newSecret == nil)
        let replaced = try await administrator.browser.submit(
            FormParameters([
                "ticket": shown.ticket, "decision": "secret", "secret_revision": shown.secretRevision,
            ]), to: shown.action
        ).apiPage
        #expect(replaced.newSecret != nil && replaced.newSecret != secret)
        let details = try await test.store.audit(AuditQuery(kind: .setting)).compactMap(\.event.detail)
        #expect(details.contains("replaced the secret of the API https://albums.example.com"))
        #expect(details.allSatisfy { !$0.contains(secret) })
    }

    @Test func `an invalid API is marked at each field, and a stale form changes nothing`() async throws {
        let test = try await TestServer()
        let api = try await test.addAPI()
        var administrator = try await Self.administrator(of: test)
        let page = try await administrator.browser.open("/admin/apis/new").apiFormPage
        let reply = try await administrator.browser.submit(
            Self.form(page, ["uri": "photos", "name": " ", "jwt_type": "JWS"]), to: page.action)
        #expect(reply.status == .badRequest)
        let again = try reply.apiFormPage
        #expect(Set(again.problems.compactMap(\.field)) == ["uri", "name", "scope", "jwt_type"])
        #expect(again.uri?.value == "photos")
        let taken = try await administrator.browser.submit(
            Self.form(
                again,
                [
                    "uri": "https://photos.example.com/", "name": "Photos", "scope": "photos.read",
                    "jwt_type": "at+jwt",
                ]), to: again.action)
        #expect(try taken.apiFormPage.problems.map(\.field) == ["uri"])

        let edit = try await administrator.browser.open(
            "/admin/apis/edit?api=https%3A%2F%2Fphotos.example.com"
        ).apiFormPage
        var renamed = api.resource
        renamed.name = "Pictures"
        #expect(try await test.store.updateResource(renamed, from: api.resource) == .updated)
        let stale = try await administrator.browser.submit(
            Self.form(edit, ["name": "Albums", "scope": "photos.read", "jwt_type": "at+jwt"]), to: edit.action)
        #expect(stale.status == .conflict)
        #expect(try await test.store.resource(api.resource.resource)?.name == "Pictures")
    }

    // SEC-799
    @Test func `other users find no page of scopes or APIs, and a change needs a recent sign-in`() async throws {
        let test = try await TestServer()
        _ = try await test.addAPI()
        let api = "api=https%3A%2F%2Fphotos.example.com"
        let forms = [
            "/admin/scopes/new", "/admin/scopes/edit?scope=photos.read", "/admin/scopes/delete?scope=photos.read",
            "/admin/apis/new", "/admin/apis/api?\(api)", "/admin/apis/edit?\(api)", "/admin/apis/delete?\(api)",
        ]
        var developer = try await Developer("dora", of: test)
        var administrator = try await Self.administrator(of: test)
        let page = try await administrator.browser.open("/admin/scopes/new").scopeFormPage
        for path in ["/admin/scopes", "/admin/apis"] + forms {
            #expect(try await developer.browser.open(path).status == .notFound, "\(path)")
        }
        for ticket in ["", "forged", page.console.signOutTicket] {
            let form = Self.form(page, ["name": "albums.read", "text_en": "See"]).setting("ticket", to: ticket)
            #expect(try await administrator.browser.submit(form, to: page.action).status == .forbidden)
        }
        test.clock.advance(by: 3700)
        for path in forms {
            #expect(try await administrator.browser.send(.get, to: path).status == .seeOther, "\(path)")
        }
        _ = try await administrator.browser.open("/admin/scopes").scopesPage
    }

    // SEC-799
    @Test func `a ticket is for one scope or API, and the page of an error leads back to it`() async throws {
        let test = try await TestServer()
        _ = try await test.addAPI()
        var administrator = try await Self.administrator(of: test)
        for (path, other) in [
            ("/admin/scopes/edit?scope=photos.read", "/admin/scopes/edit?scope=photos.write"),
            ("/admin/scopes/delete?scope=photos.read", "/admin/scopes/delete?scope=photos.write"),
        ] {
            let reply = try await administrator.browser.open(other)
            let ticket = try (try? reply.scopeFormPage.ticket) ?? reply.deleteRecordPage.ticket
            let form = FormParameters(["ticket": ticket, "remove_from_all": "on"])
            let refused = try await administrator.browser.send(.post, to: path, form: form)
            #expect(refused.status == .forbidden, "\(path)")
            let query = FormParameters(["to": path]).encoded
            #expect(try refused.html().contains(query.replacing("&", with: "&amp;")), "\(path)")
        }
        #expect(try await Self.scope(test) != nil)
    }

    @Test func `a form that is sent twice replaces the secret once`() async throws {
        let test = try await TestServer()
        _ = try await test.addAPI()
        var administrator = try await Self.administrator(of: test)
        let page = try await administrator.browser.open("/admin/apis/api?api=https%3A%2F%2Fphotos.example.com").apiPage
        let form = FormParameters([
            "ticket": page.ticket, "secret_revision": page.secretRevision, "decision": "secret",
        ])
        #expect(try await administrator.browser.submit(form, to: page.action).apiPage.newSecret != nil)
        let again = try await administrator.browser.submit(form, to: page.action)
        #expect(try again.status == .conflict && again.apiPage.newSecret == nil && again.apiPage.problems.count == 1)
    }

    @Test func `the log says which options of a scope and which scopes of an API were changed`() async throws {
        let test = try await TestServer()
        _ = try await test.addAPI()
        var administrator = try await Self.administrator(of: test)
        let scope = try await administrator.browser.open("/admin/scopes/edit?scope=photos.read").scopeFormPage
        let former = try #require(try await Self.scope(test))
        let text = try #require(scope.texts.first?.field.value)
        var fields = ["text_en": text, "reserved": former.isReserved ? "" : "on"]
        if former.isListed { fields["listed"] = "on" }
        if former.startsTicked { fields["starts_ticked"] = "on" }
        _ = try await administrator.browser.submit(Self.form(scope, fields), to: scope.action).scopesPage
        let path = "/admin/apis/edit?api=https%3A%2F%2Fphotos.example.com"
        let api = try await administrator.browser.open(path).apiFormPage
        let values = ["name": "Photos", "scope": "photos.read", "jwt_type": "at+jwt"]
        _ = try await administrator.browser.submit(Self.form(api, values), to: api.action).apisPage
        let deletion = try await administrator.browser.open("/admin/scopes/delete?scope=photos.read").deleteRecordPage
        _ = try await administrator.browser.submit(
            FormParameters(["ticket": deletion.ticket, "remove_from_all": "on"]), to: deletion.action
        ).scopesPage
        let details = try await test.store.audit(AuditQuery(kind: .setting)).compactMap(\.event.detail)
        #expect(details.contains { $0.hasPrefix("changed the scope photos.read, ") && $0.hasSuffix("reserved") })
        #expect(details.contains { $0.hasSuffix(", lost: photos.write") })
        #expect(details.contains("removed the scope photos.read from the API https://photos.example.com"))
    }

    @Test func `a standard scope has the translations of the server until its English text is changed`() async throws {
        let test = try await TestServer()
        var administrator = try await Self.administrator(of: test)
        for isChanged in [false, true] {
            let page = try await administrator.browser.open("/admin/scopes/edit?scope=email").scopeFormPage
            #expect(page.isTranslated == !isChanged)
            let list = try await administrator.browser.open("/admin/scopes").scopesPage
            let row = try #require(list.rows.first { $0.name == "email" })
            #expect(row.languages == (isChanged ? "en" : "en, de, es, fr, nb"))
            _ = try await administrator.browser.submit(
                Self.form(page, ["text_en": "See where to write to you"]), to: page.action
            ).scopesPage
        }
    }

    @Test func `developers see the APIs with their scopes`() async throws {
        let test = try await TestServer()
        _ = try await test.addAPI()
        var developer = try await Developer("dora", of: test)
        let page = try await developer.browser.open("/apps/apis").availableAPIsPage
        let api = try #require(page.apis.first)
        #expect(api.uri == "https://photos.example.com" && api.tokenType == "at+jwt")
        #expect(api.scopes.map(\.name) == ["photos.read", "photos.write"])
    }
}
