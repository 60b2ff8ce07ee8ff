import CounterfoilConsole
import CounterfoilProtocol
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import HTTPTypes
import Testing

@testable import CounterfoilServer

/// The reason of a refused sign-in: the audit log and the log have it, and the page has the reference only.
struct RefusalReasonTests {
    private static let webView =
        "Mozilla/5.0 (iPhone; CPU iPhone OS 17_4 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148"

    /// A way in which a sign-in of alice fails.
    enum Failure: String, CaseIterable, Sendable {
        case wrongPassword = "wrong_password"
        case unknownUser = "unknown_user"
        case disabled
        case throttledUser = "throttled_user"
        case throttledSource = "throttled_source"
        case cookie
        case ticket
        case ticketExpired = "ticket_expired"
        case foreignForm = "foreign_form"
        case unknownClient = "unknown_client"
        case redirectURI = "redirect_uri"
        case clientDeleted = "client_deleted"
        case pushedRequest = "pushed_request"
        case webView = "web_view"

        var namesUser: Bool {
            switch self {
            case .wrongPassword, .disabled, .throttledUser, .throttledSource: true
            default: false
            }
        }

        var namesClient: Bool {
            switch self {
            // The forms of these are refused before their authorization request is read.
            case .cookie, .ticket, .ticketExpired, .foreignForm: false
            default: true
            }
        }

        /// Fails in this way, and returns the page that the user sees.
        func page(_ test: TestServer) async throws -> Reply {
            let attempt = Attempt(test)
            var browser = test.browser()
            let page = try await browser.open(attempt.url)
            switch self {
            case .wrongPassword:
                return try await browser.signIn(on: page, username: "alice", password: "not the password")
            case .unknownUser:
                return try await browser.signIn(on: page, username: "hunter2", password: "not the password")
            case .disabled:
                try await test.store.disableUser(test.alice.id, at: test.clock.now, recording: [])
            case .throttledUser:
                for _ in 0..<10 { _ = try await browser.signIn(on: page, username: "alice", password: "wrong") }
            case .throttledSource:
                for number in 0..<100 {
                    _ = try await browser.signIn(on: page, username: "name\(number)", password: "wrong")
                }
            case .cookie: browser.cookies = [:]
            case .ticket:
                browser.cookies = [:]
                _ = try await browser.open(attempt.url)
            case .ticketExpired: test.clock.advance(by: 86_400)
            case .foreignForm: browser.fields[try .named("Sec-Fetch-Site")] = "cross-site"
            case .unknownClient: return try await browser.open(attempt.with("client_id", "app_unknown").url)
            case .redirectURI: return try await browser.open(attempt.with("redirect_uri", "https://a.example/").url)
            case .clientDeleted: #expect(try await test.store.removeClient(test.lightbox.id))
            case .pushedRequest:
                return try await browser.open(attempt.with("request_uri", PushedRequestURI().rawValue).url)
            case .webView:
                try await test.change(test.lightbox) { $0.policy.webViews = .block }
                browser.fields = [.userAgent: RefusalReasonTests.webView]
            }
            browser.namesSite = self != .foreignForm
            return try await browser.signIn(on: page, username: "alice", password: TestServer.password)
        }
    }

    @Test(arguments: Failure.allCases)
    func `the reference on the page leads to the reason in the audit log and in the log`(_ failure: Failure)
        async throws
    {
        let test = try await TestServer()
        let reply = try await failure.page(test)
        let reference = try #require(reply.frame?.reference)
        let events = try await test.store.audit(AuditQuery(outcome: .refused, requestID: reference)).map(\.event)
        let event = try #require(events.first)
        #expect(events.count == 1)
        #expect(event.reason?.rawValue == failure.rawValue)
        #expect(event.userID == (failure.namesUser ? test.alice.id : nil))
        #expect((event.clientID != nil) == failure.namesClient)
        #expect(event.source == "192.0.2.1")
        let lines = test.log.lines.filter { $0.hasPrefix("notice ") && $0.contains("\"request\": \(reference)") }
        let line = try #require(lines.first)
        #expect(lines.count == 1)
        for field in [
            "\"reason\": \(failure.rawValue)", "\"status\": \(reply.status.code)", "\"source\": 192.0.2.1",
            "\"endpoint\": ",
        ] {
            #expect(line.contains(field), "\(line)")
        }
        #expect(line.contains("\"user\": \(test.alice.id)") == failure.namesUser)
        #expect(line.contains("\"client_id\": ") == failure.namesClient)
        #expect(!test.log.lines.contains { $0.contains("hunter2") })
    }

    @Test func `the page of a disabled account is that of a wrong password and of an unknown user`() async throws {
        var pages: [SignInPage] = []
        for failure in [Failure.wrongPassword, .unknownUser, .disabled] {
            let reply = try await failure.page(try await TestServer())
            #expect(reply.status == .badRequest)
            #expect(reply.frame?.reference != nil)
            var page = try reply.signInPage
            (page.username, page.ticket, page.request) = ("", "", "")
            page.passkeys?.options = ""
            page.recovery?.destination = ""
            pages.append(page)
        }
        #expect(Set(pages).count == 1)
    }

    @Test(arguments: [
        (Failure.foreignForm, "host=none origin=none sec_fetch_site=cross-site cookies=1"),
        (.cookie, "host=none origin=none sec_fetch_site=same-origin cookies=0"),
    ])
    func `the event of a form of another site or without cookies says what the browser sent`(
        failure: Failure, sent: String
    ) async throws {
        let test = try await TestServer()
        let reference = try #require(try await failure.page(test).frame?.reference)
        let event = try #require(try await test.store.audit(AuditQuery(requestID: reference)).first?.event)
        #expect(event.explanation == sent)
    }

    @Test func `what a browser sent is escaped and cut in the event, without the values of cookies`() async throws {
        let test = try await TestServer()
        let long = String(repeating: "a b", count: 1000)
        let head = HTTPRequest(
            method: .post, scheme: nil, authority: long, path: "/oauth2/authorize/sign-in",
            headerFields: [
                .origin: "https://" + long, try .named("Sec-Fetch-Site"): long, .cookie: "a=secret; b=secret",
            ])
        let request = IncomingRequest(head: head, source: "192.0.2.1", id: "r")
        #expect(await test.server.respond(to: request, at: .signIn).status == .forbidden)
        let event = try #require(try await test.store.audit(AuditQuery(requestID: "r")).first?.event)
        let explanation = try #require(event.explanation)
        #expect(explanation.hasPrefix(#"host=a\u{20}ba\u{20}b"#), "\(explanation)")
        #expect(explanation.hasSuffix(" cookies=2") && !explanation.contains("secret"), "\(explanation)")
        #expect(explanation.split(separator: " ").count == 4 && (event.detail?.utf8.count ?? 0) < 200)
    }

    @Test func `beyond the limit of the audit log, refusals have no line at the default level`() async throws {
        let test = try await TestServer()
        let attempt = Attempt(test).with("client_id", "app_unknown")
        for _ in 0..<AuditRateLimiter.limitPerSource + 5 { _ = try await attempt.firstReply() }
        func lines() -> [String] { test.log.lines.filter { $0.contains("\"reason\": unknown_client") } }
        #expect(lines().count { $0.hasPrefix("notice ") } == AuditRateLimiter.limitPerSource)
        #expect(lines().count { $0.hasPrefix("info ") } == 5)
        test.clock.advance(by: 60)
        _ = try await attempt.firstReply()
        #expect(lines().last?.hasPrefix("notice ") == true)
        let summary = "5 more events of this kind in one minute were not recorded"
        #expect(test.log.lines.contains { $0.hasPrefix("notice left out refusals") && $0.contains(summary) })
    }

    @Test func `a page that reports no error and a missing page have no reference`() async throws {
        let test = try await TestServer()
        var browser = test.browser()
        #expect(try await browser.open(Attempt(test).url).frame?.reference == nil)
        #expect(try await browser.open("/setup").frame?.reference != nil)
        let missing = await test.send(.get, to: .logo)
        #expect(missing.status == .notFound && missing.frame?.reference == nil)
        #expect(try await Attempt(test).authorize(decision: .deny).frame?.reference == nil)
    }

    @Test func `a fault of the store shows the reference of its line in the log`() async throws {
        let store = TestStore()
        let test = try await TestServer(store: store)
        var browser = test.browser()
        let page = try await browser.open(Attempt(test).url)
        store.fail(.user)
        let reply = try await browser.signIn(on: page, username: "alice", password: TestServer.password)
        #expect(reply.status == .serviceUnavailable)
        let reference = try #require(reply.frame?.reference)
        #expect(test.log.lines.contains { $0.hasPrefix("error ") && $0.contains("\"request\": \(reference)") })
    }

    @Test func `a confirmation with a wrong password shows a reference, and records the user`() async throws {
        let test = try await TestServer()
        var browser = test.browser()
        try await browser.signInToConsole(username: "alice")
        let page = try await browser.open("/account/password").passwordPage
        let reply = try await browser.submit(
            FormParameters([
                "ticket": page.ticket, PasswordPage.currentField: "not the password",
                PasswordPage.newField: "correct horse battery 8",
            ]),
            to: page.action)
        #expect(reply.status == .badRequest)
        let reference = try #require(reply.frame?.reference)
        let event = try #require(try await test.store.audit(AuditQuery(requestID: reference)).first?.event)
        #expect(event.kind == .passwordChange && event.reason == .wrongPassword && event.userID == test.alice.id)
    }

    @Test func `a typed device code that is wrong or malformed is recorded with its reason`() async throws {
        let test = try await TestServer()
        var browser = test.browser()
        try await browser.signInToConsole(username: "alice")
        for code in ["BCDF-GHJK", "1"] {
            let page = try await browser.open("/device").deviceCodePage
            let reply = try await browser.submit(page.form(code), to: page.action)
            #expect(reply.status == .badRequest)
            let reference = try #require(reply.frame?.reference)
            let event = try #require(try await test.store.audit(AuditQuery(requestID: reference)).first?.event)
            #expect(event.reason == .userCode && event.userID == test.alice.id)
            // Everyone can send a malformed code, so it must not use up the budget of guesses.
            #expect(event.kind == (code == "1" ? .browserRequest : .userCode))
        }
    }

    @Test func `a request without client_id says in the audit log what is missing`() async throws {
        let test = try await TestServer()
        var browser = test.browser()
        let reply = try await browser.open("/oauth2/authorize")
        let reference = try #require(reply.frame?.reference)
        let event = try #require(try await test.store.audit(AuditQuery(requestID: reference)).first?.event)
        #expect(event.reason == AuditEvent.Reason(.invalidRequest))
        #expect(event.explanation?.contains("client_id") == true, "\(event)")
    }

    @Test func `a refused refresh names the user of its grant`() async throws {
        let test = try await TestServer()
        let stayed = try await RefreshTokenGrantTests.Stayed(test)
        try await test.store.disableUser(test.alice.id, at: test.clock.now, recording: [])
        #expect(try await stayed.refresh().status == .badRequest)
        let events = try await test.store.audit(AuditQuery(kind: .clientRequest)).map(\.event)
        #expect(events.map(\.reason) == [AuditEvent.Reason(.invalidGrant)])
        #expect(events.map(\.userID) == [test.alice.id])
    }

    @Test func `a refusal with an unknown error code keeps its reference`() async throws {
        let test = try await TestServer()
        let request = IncomingRequest(
            head: HTTPRequest(method: .get, scheme: nil, authority: nil, path: "/"), source: "192.0.2.1", id: "r")
        let auditor = Auditor(store: test.store, logger: test.log.logger)
        await auditor.refuse(
            .browserRequest, because: AuditEvent.Reason(rawValue: "new_code"), request, now: test.clock.now)
        #expect(request.refusal.entry?.reason.rawValue == "new_code")
    }

    @Test func `a refused token request is recorded with its request, and once`() async throws {
        let test = try await TestServer()
        let form = FormParameters([
            "grant_type": "refresh_token", "client_id": "app_lightbox", "refresh_token": "unknown",
        ])
        #expect(await test.redeem(form).status == .badRequest)
        let events = try await test.store.audit(AuditQuery(outcome: .refused)).map(\.event)
        #expect(events.map(\.kind) == [.clientRequest])
        #expect(events.first?.reason == AuditEvent.Reason(.invalidGrant))
        #expect(events.first?.requestID == "request" && events.first?.clientID == test.lightbox.id)
        #expect(!test.log.lines.contains { $0.hasPrefix("notice ") && $0.contains("invalid_grant") })
    }

    @Test func `the reason is read from the detail of a refusal only`() {
        func event(_ outcome: AuditEvent.Outcome, _ detail: String?) -> AuditEvent {
            AuditEvent(at: test, .signIn, outcome, detail: detail)
        }
        let test = Date(timeIntervalSince1970: 1_800_000_000)
        #expect(event(.refused, "disabled").reason == .disabled)
        #expect(event(.refused, "disabled").explanation == nil)
        #expect(event(.refused, "wrong_password: the account is disabled").reason == .wrongPassword)
        #expect(event(.refused, "wrong_password: the account is disabled").explanation == "the account is disabled")
        // A reason that this version does not know, and details without one.
        for detail in ["sign-in", "confirmation of a change", "wrong: password", nil] {
            #expect(event(.refused, detail).reason == nil)
            #expect(event(.refused, detail).explanation == detail)
        }
        #expect(event(.done, "denied").reason == nil && event(.done, "denied").explanation == "denied")
        #expect(Set(AuditEvent.Reason.allCases).count == AuditEvent.Reason.allCases.count)
    }

    @Test func `health checks are logged at the level debug, and a refused request with reason and user`() async throws
    {
        let test = try await TestServer()
        let request = IncomingRequest(
            head: HTTPRequest(method: .get, scheme: nil, authority: nil, path: "/readyz"), source: "192.0.2.1", id: "r")
        for endpoint in [Endpoint.readiness, .liveness] {
            test.server.noteAnswer(to: request, at: endpoint, status: .ok, after: .zero)
            #expect(test.log.lines.last?.hasPrefix("debug answered") == true)
        }
        test.server.noteAnswer(to: request, at: .metadata, status: .ok, after: .zero)
        #expect(test.log.lines.last?.hasPrefix("info answered") == true)
        let event = AuditEvent(
            at: test.clock.now, .signIn, .refused, userID: test.alice.id, detail: AuditEvent.detail(.disabled, nil))
        request.refusal.note(event, isRecorded: true)
        test.server.noteAnswer(to: request, at: .signIn, status: .badRequest, after: .zero)
        let line = try #require(test.log.lines.last)
        #expect(line.contains("\"reason\": disabled") && line.contains("\"user\": \(test.alice.id)"))
    }
}
