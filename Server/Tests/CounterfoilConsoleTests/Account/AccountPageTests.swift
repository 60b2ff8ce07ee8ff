import CounterfoilPages
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import Testing

@testable import CounterfoilConsole

/// The account pages as HTML.
struct AccountPageTests {
    private static let hostile: DisplayName = "<script>alert(1)</script>\"'&"
    private static let head = ConsoleHead(
        userDisplayName: hostile, part: .account, signOutTicket: "sign-out-ticket")
    private static let client = ConnectedClient(
        name: hostile, publisher: hostile, permissions: ["See <i>photos</i>", "Add photos"], since: "1 January 2027",
        path: "/account/apps/app_x")

    private static let pages: [(name: String, page: any Page)] = [
        (
            "account",
            AccountPage(
                console: head, notice: "Saved.",
                user: AccountHolder(name: hostile, username: "alice", email: "a@b"),
                clients: [client])
        ),
        (
            "empty account",
            AccountPage(
                console: head, user: AccountHolder(name: hostile, username: "alice"), clients: [])
        ),
        (
            "application",
            ConnectedClientPage(
                console: head, client: client, allowed: "2 January 2027",
                privacyURI: "https://a.example/p?x=\"><b>", termsURI: "https://a.example/t",
                permissions: [
                    .init(scope: "openid", title: "Know who you are", isNeeded: true),
                    .init(scope: "a<b", title: "See <i>photos</i>", isGranted: false),
                    .init(scope: "photos", title: "Add photos"),
                ],
                tokensEnd: "At most one hour.", action: "/account/apps/app_x", ticket: "the-ticket")
        ),
        (
            "sessions",
            SessionsPage(
                console: head,
                rows: [
                    .init(
                        id: "one", device: "Firefox on Linux", source: "192.0.2.1", signedIn: "just now",
                        lastSeen: "just now", isCurrent: true),
                    .init(
                        id: "two", device: "<b>Safari</b>", signedIn: "an hour ago", lastSeen: "an hour ago",
                        staysUntil: "<b>Safari</b>"),
                ],
                apps: SessionsPage.Apps(
                    rows: [
                        .init(
                            id: "gr_1", name: hostile, deviceName: "<b>Safari</b>", device: "<b>Safari</b>",
                            source: "192.0.2.9", signedIn: "an hour ago", lastUsed: "just now")
                    ], isEmpty: false, excess: "<b>Safari</b>"),
                action: "/account/sessions", ticket: "the-ticket")
        ),
        (
            "password",
            PasswordPage(
                console: head, problems: [FormProblem("Wrong <b>.", field: PasswordPage.currentField)],
                username: "alice", action: "/account/password", ticket: "the-ticket")
        ),
        (
            "email",
            EmailPage(
                console: head, problems: [FormProblem("Wrong <b>.")], notice: "See <i>photos</i>", email: "a<b>@b",
                isVerified: false, token: "\"><b>Safari", action: "/account/email", ticket: "the-ticket")
        ),
        (
            "activity",
            ActivityPage(
                console: head,
                rows: [.init(what: "See <i>photos</i>", client: hostile, time: "now", source: "<b>Safari</b>")],
                older: "/account/activity?before=1")
        ),
    ]

    private static func html(_ name: String, in language: Language = .english) throws -> String {
        let page = try #require(pages.first { $0.name == name }).page
        let frame = Frame(site: Site(name: "Example Photos"), language: language)
        return String(decoding: try PageRenderer(pages: .console).render(page, in: frame), as: UTF8.self)
    }

    @Test(arguments: ["account", "empty account", "application", "sessions", "password", "email", "activity"])
    func `account pages escape all text of others`(name: String) throws {
        for language in Language.allCases {
            let html = try Self.html(name, in: language)
            #expect(html.contains("<html lang=\"\(language.rawValue)\">"))
            for markup in ["<script>alert", "<i>photos", "<b>Safari", "Wrong <b>", "p?x=\"", "{{", "[["] {
                #expect(!html.contains(markup), "\(markup)")
            }
            #expect(html.contains("name=\"ticket\" value=\"sign-out-ticket\""))
        }
    }

    // Check boxes for permissions that can be revoked, none for others, and a separate form to disconnect.
    @Test func `the page of an app has check boxes and a form to disconnect`() throws {
        let html = try Self.html("application")
        #expect(html.contains("name=\"permission.photos\" value=\"granted\" checked>"))
        #expect(html.contains("name=\"permission.a&lt;b\" value=\"granted\">"))
        #expect(!html.contains("name=\"permission.openid\""))
        #expect(html.contains("name=\"decision\" value=\"save\""))
        #expect(html.contains("name=\"decision\" value=\"disconnect\""))
        #expect(html.components(separatedBy: "value=\"the-ticket\"").count == 3)
        #expect(html.contains("href=\"https://a.example/t\" rel=\"noreferrer nofollow\""))
        #expect(html.contains("At most one hour."))
    }

    // This browser is signed out by a form of its own, every other session by its identifier.
    @Test func `the page of sessions lists every other session`() throws {
        let html = try Self.html("sessions")
        #expect(html.contains("name=\"session\" value=\"two\""))
        #expect(!html.contains("value=\"one\""))
        #expect(html.contains("name=\"decision\" value=\"end-others\""))
        #expect(html.contains("192.0.2.1"))
        #expect(html.contains("name=\"sign_in\" value=\"gr_1\""))
        #expect(html.contains("name=\"decision\" value=\"end-app\""))
        #expect(html.contains("192.0.2.9"))
        #expect(html.contains("Sign out<span class=\"hidden\"> (Firefox on Linux)</span></button>"))
        #expect(html.contains("Sign out<span class=\"hidden\"> (&lt;b&gt;Safari&lt;/b&gt;)</span></button>"))
    }

    // Each app has a link or button with a descriptive name.
    @Test func `every connected app can be managed`() throws {
        let html = try Self.html("account")
        #expect(html.contains("<a class=\"button quiet\" href=\"/account/apps/app_x\">Manage<span class=\"hidden\">"))
        #expect(html.contains("Permissions: See &lt;i&gt;photos&lt;/i&gt; · Add photos"))
    }

    // Password managers recognize the fields, pasting is allowed, and an error is shown at its field.
    @Test func `the page for a new password supports password managers`() throws {
        let html = try Self.html("password")
        #expect(html.components(separatedBy: "type=\"password\"").count == 3)
        #expect(html.contains("autocomplete=\"current-password\""))
        #expect(html.contains("autocomplete=\"new-password\""))
        #expect(html.contains("autocomplete=\"username\""))
        #expect(!html.contains("onpaste") && !html.contains("maxlength"))
        #expect(html.contains("href=\"#current_password\""))
        #expect(html.components(separatedBy: "aria-invalid=\"true\"").count == 2)
        // The script turns it into a button that shows the new password.
        #expect(html.components(separatedBy: "data-show=\"Show the new password\"").count == 2)
    }
}
