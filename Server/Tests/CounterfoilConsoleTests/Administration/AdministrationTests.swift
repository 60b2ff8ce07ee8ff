import CounterfoilConsole
import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import HTTPTypes
import TestSupport
import Testing

/// The decisions of administrators: policies and branding.
struct AdministrationTests {
    // The page shows the risk, the number of uses, and the last use.
    @Test func `an exemption from PKCE is shown as a risk, with its use`() async throws {
        let test = try await TestServer()
        var administrator = try await Developer("ada", of: test, role: .administrator)
        var owner = try await Developer("dora", of: test)
        let client = try await owner.registered(Developer.form(redirectURIs: "http://127.0.0.1/callback"))
        let page = try await administrator.browser.open("/apps/\(client.id)/policy").policyPage
        let form = page.form(["pkce": "exempt-until", "exempt_until": "2099-01-31"])
        let changed = try await administrator.browser.submit(form, to: page.action).clientPage
        let danger = try #require(changed.pkceDanger)
        #expect(danger.contains("2099-01-31"))
        #expect(try await test.store.client(client.id)?.policy.pkce == PKCEPolicy("exempt-until:2099-01-31"))

        let attempt = Attempt(test, by: client).with("code_challenge", nil).with("code_challenge_method", nil)
        _ = try await attempt.authorize().code
        let used = try await owner.browser.open("/apps/\(client.id)").clientPage
        #expect(try #require(used.pkceDanger).contains("Used once"))
        let list = try await administrator.browser.open("/admin/apps").administrationPage.clients
        #expect(list.first { $0.clientID == client.id.rawValue }?.hasPKCEException == true)
    }

    // The page depends on its reader: an owner asks an administrator, an administrator decides.
    @Test func `the page of an app tells its owner whom to ask, and administrators where to change`()
        async throws
    {
        let test = try await TestServer()
        var administrator = try await Developer("ada", of: test, role: .administrator)
        var owner = try await Developer("dora", of: test)
        let client = try await owner.registered()
        try await test.change(client) { $0.policy.pkce = .s256OrPlain }
        let owners = try await owner.browser.open("/apps/\(client.id)")
        let danger = try #require(try owners.clientPage.pkceDanger)
        // No client is exempt.
        #expect(danger.contains("(plain)") && danger.contains("never used") && !danger.contains("exemption"))
        let (asking, changing) = (
            "Set by the administrators.", "href=\"/apps/\(client.id)/policy\">Change"
        )
        #expect(try owners.html().contains(asking))
        #expect(try !owners.html().contains(changing))
        let administrators = try await administrator.browser.open("/apps/\(client.id)").html()
        #expect(!administrators.contains(asking))
        #expect(administrators.contains(changing))
    }

    @Test func `an invalid policy is marked at its field`() async throws {
        let test = try await TestServer()
        var administrator = try await Developer("ada", of: test, role: .administrator)
        let page = try await administrator.browser.open("/apps/app_lightbox/policy").policyPage
        let form = page.form(
            [
                "pkce": "exempt-until", "exempt_until": "2001-01-01", "claimed_https_verified": "on",
                "access_token_lifetime": "5", "id_token_lifetime": "soon", "web_views": "perhaps",
                "minimum_authentication": "some",
                "id_token_signed_response_alg": "none",
            ])
        let reply = try await administrator.browser.submit(form, to: page.action)
        #expect(reply.status == .badRequest)
        #expect(
            Set(try reply.policyPage.problems.compactMap(\.field)) == [
                "exempt_until", "claimed_https_verified", "access_token_lifetime", "id_token_lifetime", "web_views",
                "minimum_authentication",
                "id_token_signed_response_alg",
            ])
        #expect(try await test.store.client(test.lightbox.id)?.policy == test.lightbox.policy)
    }

    // OpenID Connect Core §5.4: the setting is that of the form of the developer.
    @Test func `an administrator decides whether ID tokens have profile and email`() async throws {
        let test = try await TestServer()
        var administrator = try await Developer("ada", of: test, role: .administrator)
        for isOn in [false, true] {
            let before = try await administrator.browser.open("/apps/app_lightbox/policy").policyPage
            let form = before.form(isOn ? ["user_claims_in_id_token": "on"] : [:])
            let saved = try await administrator.browser.submit(form, to: before.action).clientPage
            #expect(
                saved.policy.contains(ClientPage.PolicySetting("Profile and email in ID tokens", isOn ? "Yes" : "No")))
            #expect(try await test.store.client(test.lightbox.id)?.policy.putsUserClaimsInIDToken == isOn)
            let after = try await administrator.browser.open("/apps/app_lightbox/policy").policyPage
            #expect(after.userClaimsInIDToken?.isOn == isOn)
        }
    }

    // The mark is the same as that of app links; a loopback URI cannot be verified.
    @Test func `an administrator verifies the https redirect URIs of a single-page app`() async throws {
        let test = try await TestServer()
        var administrator = try await Developer("ada", of: test, role: .administrator)
        let album = try await test.register(
            "Album", type: .singlePage, redirectURIs: ["https://album.example/cb"],
            policy: .standard(for: .singlePage))
        let local = try await test.register(
            "Local", type: .singlePage, redirectURIs: ["http://localhost/cb"], policy: .standard(for: .singlePage))
        for (client, isPossible) in [(album, true), (local, false)] {
            let reply = try await administrator.browser.open("/apps/\(client.id)/policy")
            let page = try reply.policyPage
            #expect(page.httpsVerified?.isOn == false && page.claimedHTTPSVerified == nil)
            #expect(try reply.html().contains("Redirect URIs verified"))
            let form = page.form(["claimed_https_verified": "on"])
            let saved = try await administrator.browser.submit(form, to: page.action)
            #expect(saved.status == (isPossible ? .ok : .badRequest))
            #expect(try await test.store.client(client.id)?.policy.isClaimedHTTPSVerified == isPossible)
            if isPossible {
                let lines = try saved.clientPage.policy
                #expect(lines.contains(ClientPage.PolicySetting("Redirect URIs verified", "Yes")))
            }
        }
    }

    // The day is marked, not the choice above it.
    @Test(arguments: ["2001-01-01", "tomorrow", ""])
    func `an invalid last day of an exemption is marked`(day: String) async throws {
        let test = try await TestServer()
        var administrator = try await Developer("ada", of: test, role: .administrator)
        let page = try await administrator.browser.open("/apps/app_lightbox/policy").policyPage
        let form = page.form(["pkce": "exempt-until", "exempt_until": day])
        let again = try await administrator.browser.submit(form, to: page.action).policyPage
        #expect(again.exemptUntil?.problem != nil)
        #expect(again.exemptUntil?.value == day)
        #expect(again.pkce?.problem == nil)
        #expect(again.pkce?.choices.filter(\.isChosen).map(\.value) == ["exempt-until"])
    }

    @Test func `administrators see every client with its owner`() async throws {
        let test = try await TestServer()
        var owner = try await Developer("dora", of: test)
        let client = try await owner.registered()
        var administrator = try await Developer("ada", of: test, role: .administrator)
        let list = try await administrator.browser.open("/admin/apps").administrationPage.clients
        // By name: "Lightbox" and "Lightbox Two".
        #expect(list.map(\.clientID) == ["app_lightbox", client.id.rawValue])
        #expect(list.map { $0.owner?.description } == [nil, "Dora"])
        #expect(list.map(\.isVouchedFor) == [true, false])
        _ = try await administrator.browser.open("/apps/\(client.id)/edit").clientFormPage
    }

    @Test func `the name, colour and support URL apply to the next page`() async throws {
        let test = try await TestServer()
        var administrator = try await Developer("ada", of: test, role: .administrator)
        let page = try await administrator.browser.open("/admin/branding").brandingPage
        let upload = ScriptedUserAgent.Upload(
            FormParameters([
                "ticket": page.ticket, "revision": String(page.revision), "decision": "save",
                "site_name": "Foto Eins", "own_colour": "on", "accent": "#aa3366",
                "support_uri": "mailto:help@example.com",
            ]), fileField: "logo", file: [])
        let reply = try await administrator.browser.submit(upload, to: page.action)
        #expect(try reply.brandingPage.siteName.value == "Foto Eins")
        var browser = test.browser()
        let site = try #require(try await browser.open(Attempt(test).url).frame).site
        #expect(site.name == "Foto Eins")
        #expect(site.accent == AccentColor("#aa3366"))
        #expect(site.supportURI == "mailto:help@example.com")
    }

    // Branding can be previewed before it is saved, with or without a script.
    @Test func `a preview shows the new branding and saves nothing`() async throws {
        let test = try await TestServer()
        var administrator = try await Developer("ada", of: test, role: .administrator)
        let page = try await administrator.browser.open("/admin/branding").brandingPage
        #expect(!page.isPreview)
        let fields = FormParameters([
            "ticket": page.ticket, "revision": String(page.revision), "decision": "preview",
            "site_name": "Foto Eins", "own_colour": "on", "accent": "#aa3366",
            "support_uri": "https://help.example.com",
        ])
        let reply = try await administrator.browser.submit(
            ScriptedUserAgent.Upload(fields, fileField: "logo", file: []), to: page.action)
        #expect(reply.status == .ok)
        let preview = try reply.brandingPage
        #expect(preview.isPreview)
        #expect(preview.siteName.value == "Foto Eins" && preview.accent.value == "#aa3366" && preview.ownColour)
        let site = try #require(reply.frame).site
        #expect(site.name == "Foto Eins" && site.accent == AccentColor("#aa3366"))
        #expect(site.supportURI == "https://help.example.com")
        #expect(try await test.store.branding() == Branding())
        let after = try await administrator.browser.open("/admin/branding")
        #expect(after.frame?.site.name == "Example Photos")
    }

    // The server keeps no upload between two requests.
    @Test func `a preview shows the chosen logo, and saving it needs no second choice`() async throws {
        let test = try await TestServer()
        var administrator = try await Developer("ada", of: test, role: .administrator)
        let page = try await administrator.browser.open("/admin/branding").brandingPage
        func upload(
            _ decision: String, logo: [UInt8] = [], chosen: String? = nil, name: String = "Foto Eins",
            removes: Bool = false
        ) -> ScriptedUserAgent.Upload {
            var fields = FormParameters([
                "ticket": page.ticket, "revision": String(page.revision), "decision": decision, "site_name": name,
            ])
            fields.append("chosen_logo", ifPresent: chosen)
            fields.append("remove_logo", ifPresent: removes ? "on" : nil)
            return ScriptedUserAgent.Upload(fields, fileField: "logo", file: logo)
        }
        let picture = Array(Drawing.sunrise.png())
        let reply = try await administrator.browser.submit(upload("preview", logo: picture), to: page.action)
        let chosen = try #require(try reply.brandingPage.chosenLogo)
        #expect(try #require(reply.frame).site.logo?.hasPrefix("data:image/png;base64,") == true)
        #expect(try await test.store.branding() == Branding())

        // It is kept as well by a second preview, and by a form with a mistake.
        let second = try await administrator.browser.submit(upload("preview", chosen: chosen), to: page.action)
        #expect(try second.brandingPage.chosenLogo == chosen)
        let mistake = try await administrator.browser.submit(
            upload("save", chosen: chosen, name: String(repeating: "n", count: 61)), to: page.action)
        #expect(mistake.status == .badRequest)
        #expect(try mistake.brandingPage.chosenLogo == chosen)
        // The box that removes the logo removes the chosen one, too.
        #expect(try second.brandingPage.hasLogo)
        let removed = try await administrator.browser.submit(
            upload("preview", chosen: chosen, removes: true), to: page.action)
        #expect(try removed.brandingPage.chosenLogo == nil)
        // What the field contains is judged like an upload.
        for forged in ["x", Base64URL.encode(Array("<svg></svg>".utf8))] {
            let refused = try await administrator.browser.submit(upload("save", chosen: forged), to: page.action)
            #expect(try refused.brandingPage.problems.map(\.field) == ["logo"])
        }

        let saved = try await administrator.browser.submit(upload("save", chosen: chosen), to: page.action)
        #expect(try saved.brandingPage.chosenLogo == nil)
        let logo = try #require(try await test.store.branding().logo)
        #expect(try #require(saved.frame).site.logo == "/logos/\(logo)")
    }

    // The owner's texts are edited on the branding page.
    @Test func `the texts of the service are previewed, saved and audited`() async throws {
        let test = try await TestServer()
        var administrator = try await Developer("ada", of: test, role: .administrator)
        let page = try await administrator.browser.open("/admin/branding").brandingPage
        #expect(page.statements.map(\.languageName) == ["English", "Deutsch", "Norsk bokmål", "Français", "Español"])
        #expect(page.statements.map(\.isOpen) == [true, false, false, false, false])
        func upload(_ decision: String, revision: Int) -> ScriptedUserAgent.Upload {
            ScriptedUserAgent.Upload(
                FormParameters([
                    "ticket": page.ticket, "revision": String(revision), "decision": decision,
                    "consent_text_en": "Only **employees**\r\n", "privacy_uri_en": "https://example.com/privacy",
                    "consent_text_nb": " ", "privacy_uri_nb": "https://example.com/personvern",
                ]), fileField: "logo", file: [])
        }
        let preview = try await administrator.browser.submit(upload("preview", revision: 0), to: page.action)
        #expect(
            try preview.brandingPage.statements[0].shown?.description.contains("<strong>employees</strong>") == true)
        #expect(try preview.html().contains("<strong>employees</strong>"))
        #expect(try await test.store.branding() == Branding())

        _ = try await administrator.browser.submit(upload("save", revision: 0), to: page.action)
        let saved = try await test.store.branding()
        #expect(
            saved.statements == [
                .english: SiteStatement(
                    text: "Only **employees**\n", privacyURI: try AbsoluteURI(parsing: "https://example.com/privacy")),
                .norwegian: SiteStatement(privacyURI: try AbsoluteURI(parsing: "https://example.com/personvern")),
            ])
        let event = try #require(try await test.store.audit(AuditQuery(kind: .setting)).first)
        #expect(event.event.detail == "branding, including the service text of the consent page")
        // Resetting the branding keeps the texts.
        _ = try await administrator.browser.submit(upload("standard", revision: 1), to: page.action)
        #expect(try await test.store.branding().statements == saved.statements)
    }

    @Test(arguments: [
        ("consent_text_nb", String(repeating: "n", count: 4001)), ("consent_text_en", "<b></b>"),
        ("privacy_uri_en", "javascript:alert(1)"), ("privacy_uri_de", "http://example.com"),
        ("privacy_uri_fr", "https://example.com@evil.example/"),
        ("site_name", String(repeating: "n", count: 61)), ("site_name", "Foto\u{0}Eins"),
        ("site_name", "Foto\u{202E}snieE"), ("site_name", "Foto\u{2063}Eins"), ("accent", "red;}body{display:none"),
        ("support_uri", "javascript:alert(1)"), ("support_uri", "http://example.com"),
    ])
    func `misleading or executable branding is refused`(field: String, value: String) async throws {
        let test = try await TestServer()
        var administrator = try await Developer("ada", of: test, role: .administrator)
        let page = try await administrator.browser.open("/admin/branding").brandingPage
        let fields = FormParameters([
            "ticket": page.ticket, "revision": String(page.revision), "decision": "save", "own_colour": "on",
            "accent": "#aa3366",
        ]).setting(field, to: value)
        let reply = try await administrator.browser.submit(
            ScriptedUserAgent.Upload(fields, fileField: "logo", file: []), to: page.action)
        #expect(reply.status == .badRequest)
        #expect(try reply.brandingPage.problems.map(\.field) == [field])
        #expect(try await test.store.branding() == Branding())
    }
}
