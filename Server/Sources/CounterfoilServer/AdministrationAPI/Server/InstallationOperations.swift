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
            // A command does not know what a running server does.
            guard call.components.reporter?.ordersCertificate != false else {
                throw ProblemError.conflict(
                    "certificate-not-ordered", nil, "The server does not order its certificate.")
            }
            // A request that is sent twice has the same answer.
            _ = try await call.server.requestCertificate()
            return .none
        },
        AdministrationOperation(
            "sendTestMail", .post, "/mail/test", .writeServer, body: TestMailBody.self,
            answer: .object(SentMailDocument.self), Installation.sendTestMail),
    ]
}

/// The functions of the operations on the installation.
private enum Installation {
    static func check(_ call: AdministrationCall) async throws -> AdministrationAnswer {
        guard let reporter = call.components.reporter else { throw NotFoundError() }
        try call.countCheck()
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
            throw ProblemError.conflict(
                "no-mail", nil,
                "Email is not set up; set mail-sender, and mail-server or mail-program, in the settings of the server.")
        }
        let outcome = try await mails.send(
            to: body.email, by: call.party, in: call.request, at: call.now,
            recording: call.event(.setting, detail: AuditEvent.testMailDetail))
        switch outcome {
        case .wait(let seconds): throw ProblemError.tooManyChecks(seconds)
        case .attempted(let mail, .accepted): return try AdministrationAnswer(SentMailDocument(mail: mail.rawValue))
        case .attempted(_, .failed(let reason)):
            throw ProblemError.conflict("mail-not-sent", nil, "The mail was not sent: \(visible(reason))")
        case .attempted(_, .refused(let reason, let reply)):
            throw ProblemError.conflict(
                "mail-refused", nil, "The mail was \(visible(reason)): \(visible(reply))")
        case .attempted(_, .cancelled):
            throw ProblemError.conflict("mail-not-sent", nil, "The mail server did not answer in time.")
        }
    }

    private static func visible(_ text: String) -> String {
        String(VisibleText(of: text.unicodeScalars.prefix(400)).scalars)
    }
}

extension AdministrationCall {
    /// Counts a request that reads many records or waits for another host; throws 429 if the caller has sent too many.
    func countCheck() throws(ProblemError) {
        if let seconds = components.serverChecks.admit(party, at: now) { throw .tooManyChecks(seconds) }
    }
}

extension ProblemError {
    fileprivate static func tooManyChecks(_ seconds: Int) -> ProblemError {
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

/// A test mail that the mail server has accepted.
struct SentMailDocument: AdministrationDocument {
    enum Member: String, CodingKey, CaseIterable { case mail }

    /// The identifier of the mail, which the log names and with which its `Message-ID` begins.
    let mail: String
}

extension ServerFinding: AdministrationDocument {
    typealias Member = CodingKeys
}
