import CounterfoilStore
import HTTPTypes

extension AdministrationOperation {
    /// The operations on the installation of the server: what `doctor` finds, the settings, the certificate and mail.
    static let installation: [AdministrationOperation] = [
        AdministrationOperation(
            "listServerFindings", .get, "/server/findings", .readServer, query: ["limit", "cursor"],
            answer: .list(ServerFinding.self)
        ) { call in
            let findings = await call.components.reporter?.findings(for: call.request.context) ?? []
            return try call.page(
                of: findings.mostSevereFirst, list: "findings", id: { "\($0.topic) \($0.text)" })
        },
        AdministrationOperation(
            "checkServer", .post, "/server/checks", .readServer, answer: .list(ServerFinding.self), Installation.check),
        AdministrationOperation(
            "listSettings", .get, "/settings", .readServer, query: ["limit", "cursor"],
            answer: .list(SettingDocument.self)
        ) { call in
            let settings = (call.components.reporter?.settings ?? []).flatMap(\.settings)
            return try call.page(of: settings, list: "settings", id: \.name, as: { SettingDocument($0) })
        },
        AdministrationOperation(
            "getCertificate", .get, "/certificate", .readServer, answer: .object(CertificateDocument.self)
        ) { call in
            let state = try await call.components.reporter?.state(for: call.request.context)
            guard let certificate = state?.certificate else { throw NotFoundError() }
            return try AdministrationAnswer(CertificateDocument(certificate))
        },
        AdministrationOperation(
            "renewCertificate", .post, "/certificate/renewal", .writeServer, status: .accepted
        ) { call in
            guard call.components.reporter?.ordersCertificate == true else {
                throw ProblemError.conflict(
                    "certificate-not-ordered", nil, "The server does not order its certificate.")
            }
            // A request that is sent twice has the same answer.
            _ = try await call.server.requestCertificate()
            return .none
        },
        AdministrationOperation(
            "sendTestMail", .post, "/mail/test", .writeServer, body: TestMailBody.self, Installation.sendTestMail),
    ]
}

/// The functions of the operations on the installation.
private enum Installation {
    static func check(_ call: AdministrationCall) async throws -> AdministrationAnswer {
        guard let reporter = call.components.reporter else { throw NotFoundError() }
        if let seconds = call.components.serverChecks.admit(call.party, at: call.now) { throw wait(seconds) }
        guard let found = await reporter.slowFindings(for: call.request.context) else {
            throw ProblemError(
                .conflict, "check-pending",
                "The checks take longer than a request may. Send the request again to wait for them.",
                fields: [.retryAfter: "5"])
        }
        return try AdministrationAnswer(list: found.mostSevereFirst, next: nil)
    }

    static func sendTestMail(_ call: AdministrationCall, _ body: TestMailBody) async throws -> AdministrationAnswer {
        guard let mails = call.components.testMails else {
            throw ProblemError.conflict("no-mail", nil, "The server has no mail set up.")
        }
        let outcome = try await mails.send(
            to: body.email, by: call.party, in: call.request, at: call.now,
            recording: call.event(.setting, detail: AuditEvent.testMailDetail))
        switch outcome {
        case .wait(let seconds): throw wait(seconds)
        case .attempted(.accepted): return .none
        case .attempted(.failed(let reason)):
            throw ProblemError.conflict("mail-not-sent", nil, "The mail was not sent: \(visible(reason))")
        case .attempted(.refused(let reason, let reply)):
            throw ProblemError.conflict(
                "mail-refused", nil, "The mail was \(visible(reason)): \(visible(reply))")
        case .attempted(.cancelled):
            throw ProblemError.conflict("mail-not-sent", nil, "The mail server did not answer in time.")
        }
    }

    private static func visible(_ text: String) -> String {
        String(VisibleText(of: text.unicodeScalars.prefix(400)).scalars)
    }

    private static func wait(_ seconds: Int) -> ProblemError {
        ProblemError(
            .tooManyRequests, "too-many-checks",
            "There were too many checks and test mails; try again in \(seconds) seconds.",
            fields: [.retryAfter: String(seconds)])
    }
}

/// The body with which a test mail is sent.
struct TestMailBody: AdministrationBody {
    enum Member: String, CaseIterable { case email }

    let email: EmailAddress

    init?(_ members: inout BodyMembers<Member>) {
        let email = members.required(.email, rule: "It must be an email address.") { EmailAddress($0) }
        guard let email else { return nil }
        self.email = email
    }
}

extension ServerFinding: AdministrationDocument {
    typealias Member = CodingKeys
}
