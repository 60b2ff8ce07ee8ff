import Foundation
import TestSupport
import Testing

/// The verdicts on redirect URIs for a developer, on every page that shows them.
@Suite(.realBrowser, .oneStage, .serialized, .timeLimit(.minutes(15)))
struct VerdictJourneyTests {
    // Typing, checking and saving give the same verdict.
    @Test func `the verdicts while an app is edited equal those of saving it`() async throws {
        try await Stage.enter { stage in
            let browser = stage.browser
            try await stage.open("/apps", as: .alice)
            _ = try await stage.register("First", "com.example.frames:/done")
            let path = try await stage.register("Second", "http://127.0.0.1/callback")
            let own = stage.site.issuer + "/callback/" + path.dropFirst("/apps/".count)

            try await stage.open(path + "/edit")
            let typed = [
                "http://127.0.0.1/callback", "com.example.frames:/done", "myapp:/done", "http://localhost/callback",
                "https://frames.example.com/done#part", "https://frames.example.com/done", own,
            ]
            try await stage.fill("redirect_uris", typed.joined(separator: "\n"))
            try await browser.waitFor("a verdict on each line") {
                try await stage.verdicts().map(\.uri) == typed
            }
            let live = try await stage.verdicts()
            #expect(Set(live.map(\.state)) == ["accepted", "warned", "refused"])

            try await stage.send("button[name=action][value=check]")
            #expect(try await stage.verdicts() == live)
            #expect(try await browser.findAll("#problems").isEmpty)

            try await stage.send()
            _ = try await browser.waitForElement("#problems a[href='#redirect_uris']")
            #expect(try await stage.verdicts() == live)

            // A redirect URI that was not refused is saved unchanged, and no other problem is reported.
            let good = live.filter { $0.state != "refused" }.map(\.uri)
            try await stage.fill("redirect_uris", good.joined(separator: "\n"))
            try await stage.send()
            try await stage.seeDone()
            #expect(try await stage.path() == path)
            #expect(try await stage.registeredURIs() == good)
            try await stage.open(path + "/edit")
            #expect(try await stage.verdicts() == live.filter { $0.state != "refused" })
            try await stage.expectNoComplaints()
        }
    }

    // RFC 8252 §7.3: the preview of matching redirect URIs agrees with authorization requests.
    @Test func `the preview of a redirect URI equals the outcome of a request with it`() async throws {
        try await Stage.enter { stage in
            let browser = stage.browser
            try await stage.open("/apps", as: .alice)
            let path = try await stage.register("Third", "http://127.0.0.1/callback")
            let examples = try await stage.examples()
            #expect(Set(examples.map(\.matches)) == [true, false])
            let id = String(path.dropFirst("/apps/".count))
            for (uri, matches) in examples {
                try await stage.open(path)
                #expect(try await stage.isMatch(uri) == matches, "\(uri)")
                let escaped = uri.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
                try await stage.ask(id, scope: "openid", redirectURI: escaped)
                #expect(try await browser.findAll("[value=allow]").isEmpty == !matches, "\(uri)")
            }
        }
    }
}

/// A verdict on the page.
private struct Verdict: Hashable {
    let uri: String
    let state: String
    /// The other text of the verdict.
    let words: String
}

extension Stage {
    /// Registers a native client at My Apps, which opens its page, and returns the path of the page.
    fileprivate func register(_ name: String, _ redirectURI: String) async throws -> String {
        try await open("/apps/new?type=native")
        try await fill("name", name)
        try await fill("redirect_uris", redirectURI)
        try await send()
        try await arrive(at: name)
        return try await path()
    }

    /// Returns the verdicts at the redirect URI field.
    fileprivate func verdicts() async throws -> [Verdict] {
        let script = """
            return [...document.querySelectorAll('#redirect_uris-verdicts > li')].map(row => ({
              uri: row.querySelector('code').textContent, state: row.className,
              words: row.textContent.replace(/\\s+/g, ''),
            }));
            """
        return try await browser.execute(script).array?.map { row in
            Verdict(
                uri: row["uri"]?.string ?? "", state: row["state"]?.string ?? "", words: row["words"]?.string ?? "")
        } ?? []
    }

    /// Returns the redirect URIs on the page of a client.
    fileprivate func registeredURIs() async throws -> [String] {
        try await browser.execute(
            "return [...document.querySelectorAll('.card > p:first-child code')].map(code => code.textContent)"
        ).array?.compactMap(\.string) ?? []
    }

    /// Returns the examples on the page of a client: redirect URIs of requests, and whether they match.
    fileprivate func examples() async throws -> [(uri: String, matches: Bool)] {
        let script = """
            return [...document.querySelectorAll('.card details li:has(> div > code)')]
              .map(row => ({ uri: row.querySelector('code').textContent, state: row.className }));
            """
        return try await browser.execute(script).array?.map { row in
            (row["uri"]?.string ?? "", row["state"] == "accepted")
        } ?? []
    }
}
