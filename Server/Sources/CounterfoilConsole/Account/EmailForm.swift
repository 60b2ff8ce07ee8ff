import CounterfoilProtocol
import CounterfoilServer
import CounterfoilStore
import Foundation
import HTTPTypes

/// `/account/email`: the verification of the email address of a user by a link in a mail, and its change.
///
/// Opening the link shows a page with a button, because mail programs and virus scanners open links, too. Only the user
/// who has asked for the link can use it. The address of another user gets the same answer as a free one.
struct EmailForm: Sendable {
    let console: Console

    /// The values of the form field `decision`.
    private enum Decision: String {
        case send
        case change
        case verify
    }

    func show(_ exchange: Console.Exchange) async throws -> Reply {
        guard let mails = console.mails else { throw NotFoundError() }
        var page = page(exchange)
        page.notice = exchange.notice(EmailNotice.self)
        page.token = try? FormParameters(parsing: exchange.request.query).single("token")
        if let token = page.token {
            page.newEmail = try await mails.newAddress(token, of: exchange.user, now: exchange.now)?.rawValue
        }
        return Reply(.ok, .page(page))
    }

    func change(_ exchange: Console.Exchange) async throws -> Reply {
        guard let mails = console.mails else { throw NotFoundError() }
        let (form, _) = try console.form(exchange)
        switch Decision(rawValue: try form.value("decision")) {
        case .send:
            guard let address = exchange.user.email else {
                return again(exchange, .conflict, exchange.words(EmailError.changed))
            }
            return try await send(to: address, by: mails, exchange)
        case .change: return try await change(to: try form.value(EmailPage.field), by: mails, exchange)
        case .verify: return try await verify(try form.value("token"), by: mails, exchange)
        case nil: throw PageProblem.noDecision
        }
    }

    private func change(
        to typed: String, by mails: MailQueue, _ exchange: Console.Exchange
    ) async throws -> Reply {
        let user = exchange.user
        let problem: EmailError
        if let address = EmailAddress(typed) {
            guard address == user.email, user.profile.isEmailVerified == true else {
                return try await send(to: address, typed: typed, by: mails, exchange)
            }
            problem = .unchanged
        } else {
            problem = .invalid
        }
        return again(exchange, .badRequest, exchange.words(problem), at: EmailPage.field, typed: typed)
    }

    private func send(
        to address: EmailAddress, typed: String = "", by mails: MailQueue, _ exchange: Console.Exchange
    ) async throws -> Reply {
        let isChange = address != exchange.user.email
        let event = console.event(
            .account, by: exchange, detail: "sent a link to \(isChange ? "change" : "verify") the email address"
        ).named(.userLinkCreated)
        do {
            let outcome = try await mails.sendLink(
                to: address, of: exchange.user, in: exchange.words.language, for: exchange.request, now: exchange.now,
                recording: event)
            switch outcome {
            case .queued:
                console.auditor.countRecorded(event)
                return .done(EmailNotice.sent, at: console.path(.email))
            case .addressChanged: return again(exchange, .conflict, exchange.words(EmailError.changed), typed: typed)
            case .queueFull:
                return again(exchange, .serviceUnavailable, exchange.words(EmailError.queueFull), typed: typed)
            }
        } catch let limit as MailQueue.TooMany {
            await console.auditor.refuse(
                .throttled, because: limit.cause, exchange.request, user: exchange.user.id, detail: "mail",
                now: exchange.now)
            let words = exchange.words
            let problem = words(EmailError.tooMany) + " " + words(.wait(seconds: limit.retryAfter))
            return again(
                exchange, .tooManyRequests, problem, typed: typed,
                fields: [.retryAfter: String(limit.retryAfter)])
        }
    }

    private func verify(_ token: String, by mails: MailQueue, _ exchange: Console.Exchange) async throws -> Reply {
        let isChange = try await mails.newAddress(token, of: exchange.user, now: exchange.now) != nil
        let event =
            isChange
            ? try await console.event(of: .emailChanged, by: exchange)
            : console.event(.account, by: exchange, detail: "verified the email address").named(.userEmailChanged)
        guard try await mails.verify(token, of: exchange.user, now: exchange.now, recording: event) else {
            return again(exchange, .badRequest, exchange.words(EmailError.linkOver))
        }
        console.auditor.countRecorded(event)
        return .done(isChange ? EmailNotice.changed : .verified, at: console.path(.email))
    }

    private func again(
        _ exchange: Console.Exchange, _ status: HTTPResponse.Status, _ problem: String, at field: String? = nil,
        typed: String = "", fields: HTTPFields = [:]
    ) -> Reply {
        var page = page(exchange)
        page.problems = [FormProblem(problem, field: field)]
        page.address = FormField(EmailPage.field, typed, problem: field.map { _ in problem })
        return Reply(status, .page(page), fields: fields)
    }

    private func page(_ exchange: Console.Exchange) -> EmailPage {
        let action = console.path(.email)
        return EmailPage(
            console: console.head(exchange, in: .account), paths: console.accountPaths(at: .email, exchange),
            email: exchange.user.email?.rawValue, isVerified: exchange.user.profile.isEmailVerified == true,
            action: action, ticket: console.ticket(exchange, for: action))
    }
}

/// The confirmations that the page of the email address shows after a form was submitted.
enum EmailNotice: String, LocalizationKey, Notice {
    case sent = "account.email.notice.sent"
    case verified = "account.email.notice.verified"
    case changed = "account.email.notice.changed"
}

/// The errors of the page of the email address.
private enum EmailError: String, LocalizationKey {
    case changed = "account.email.changed"
    case invalid = "account.email.invalid"
    case unchanged = "account.email.unchanged"
    case linkOver = "account.email.link-over"
    case queueFull = "account.email.queue-full"
    case tooMany = "account.email.too-many"
}
