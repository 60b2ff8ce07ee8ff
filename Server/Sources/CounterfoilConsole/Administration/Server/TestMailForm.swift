import CounterfoilServer
import CounterfoilStore
import HTTPTypes

/// `/admin/mail/test`: the form that sends a test mail at once, where mail is set up.
struct TestMailForm: Sendable {
    let console: Console

    private static let field = "email"

    func show(_ exchange: Console.Exchange) throws -> Reply {
        guard console.testMails != nil else { throw NotFoundError() }
        return page(exchange, exchange.user.email?.rawValue ?? "")
    }

    func send(_ exchange: Console.Exchange) async throws -> Reply {
        guard let mails = console.testMails else { throw NotFoundError() }
        let (form, _, delay) = try await console.formOrDelay(exchange)
        let typed = try form.value(Self.field)
        if let delay { return page(exchange, typed, FormProblem(exchange.words(delay))) }
        guard let recipient = EmailAddress(typed) else {
            return page(exchange, typed, FormProblem(exchange.words(SystemMessage.badAddress), field: Self.field))
        }
        let outcome = try await mails.send(
            to: recipient, by: .user(exchange.user.id), in: exchange.request, at: exchange.now,
            recording: console.event(.setting, by: exchange, detail: AuditEvent.testMailDetail))
        switch outcome {
        case .wait(let seconds):
            let wait = LocalizedText(SystemMessage.wait, ["count": .number(seconds)])
            return page(exchange, typed, FormProblem(exchange.words(wait)), status: .tooManyRequests)
        case .attempted(_, .accepted):
            return page(
                exchange, typed,
                result: LocalizedText(SystemMessage.accepted, ["address": .text(recipient.rawValue)]))
        case .attempted(_, .failed(let reason)):
            return failure(LocalizedText(SystemMessage.failed, ["reason": .text(reason)]), typed, exchange)
        case .attempted(_, .refused(_, let reply)):
            return failure(LocalizedText(SystemMessage.refused, ["reply": .text(reply)]), typed, exchange)
        case .attempted(_, .cancelled): return failure(SystemMessage.cutOff.text, typed, exchange)
        }
    }

    private func failure(_ text: LocalizedText, _ typed: String, _ exchange: Console.Exchange) -> Reply {
        page(exchange, typed, FormProblem(exchange.words(text)), status: .unprocessableContent)
    }

    private func page(
        _ exchange: Console.Exchange, _ typed: String, _ problem: FormProblem? = nil, result: LocalizedText? = nil,
        status: HTTPResponse.Status? = nil
    ) -> Reply {
        let action = console.path(.testMail)
        let page = TestMailPage(
            console: console.head(exchange, in: .administration), problems: problem.map { [$0] } ?? [],
            result: result.map { exchange.words($0) }, mailPath: console.path(.mailPreview),
            address: FormField(Self.field, typed, problem: problem?.field == nil ? nil : problem?.text), action: action,
            ticket: console.ticket(exchange, for: action))
        return Reply(status ?? (problem == nil ? .ok : .badRequest), .page(page))
    }
}

/// The form that sends a test mail, and its result.
package struct TestMailPage: ConsolePage, Hashable {
    package static let template = "test-mail"

    package var console: ConsoleHead
    package var problems: [FormProblem]
    /// The result of a mail that was accepted; nil for none.
    package var result: String?
    package var mailPath: String
    /// The field `email`: the address that gets the mail.
    package var address: FormField
    package var action: String
    /// The anti-CSRF token of the form.
    package var ticket: String
}
