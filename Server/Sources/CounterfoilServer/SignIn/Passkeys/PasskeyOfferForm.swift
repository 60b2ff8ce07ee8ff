@_spi(Counterfoil) import CounterfoilProtocol
import CounterfoilStore
package import Foundation
import HTTPTypes
import WebAuthn

/// The form with which a user who has just signed in with a password creates a first passkey.
package struct PasskeyOfferForm: Sendable {
    let settings: ServerSettings
    let store: any PasskeyStore & SecondFactorStore
    let tickets: TicketAuthority
    let auditor: Auditor
    let random: RandomBytes

    /// Returns the page with the form; nil if the user has a passkey, or was offered one before.
    ///
    /// - Parameters:
    ///   - session: The session, which has just begun with a password.
    ///   - question: The request at which the user continues.
    ///   - clientName: The name of the client to which the user continues; nil for none.
    ///   - request: The request with the sign-in.
    ///   - now: The time of the request.
    package func offer(
        to session: LiveSession, _ question: PasskeyOfferQuestion, clientName: DisplayName? = nil,
        on request: IncomingRequest, now: Date
    ) async throws -> Reply? {
        guard let ceremonies = PasskeyCeremonies(settings.issuer) else { return nil }
        let event = auditor.event(
            .account, by: request, user: session.user.id, detail: "offered a passkey", now: now
        ).named(.passkeyOffered)
        guard try await store.notePasskeyOffer(to: session.user.id, at: now, recording: [event]) else { return nil }
        auditor.countRecorded(event)
        return Reply(.ok, .page(try await page(question, by: ceremonies, session, clientName: clientName, now: now)))
    }

    private func page(
        _ question: PasskeyOfferQuestion, by ceremonies: PasskeyCeremonies, _ session: LiveSession,
        clientName: DisplayName?, now: Date
    ) async throws -> PasskeyOfferPage {
        let user = session.user
        let known = try await store.passkeys(of: user.id) + store.securityKeys(of: user.id)
        let ticket = tickets.issue(
            .passkeyOffer, to: session.holder, request: question.sentence,
            interaction: InteractionIdentifier(random: random), expires: settings.pageEnd(from: now))
        func options(isUpgrade: Bool) -> String {
            ceremonies.creationOptions(
                for: user, with: known, siteName: settings.siteName.description, answering: ticket,
                isUpgrade: isUpgrade)
        }
        return PasskeyOfferPage(
            clientName: clientName, action: settings.issuer.path + Endpoint.passkeyOffer.path, question: question,
            ticket: ticket, options: options(isUpgrade: false), upgradeOptions: options(isUpgrade: true))
    }

    /// Reads the question that a form answers, and checks its ticket.
    ///
    /// - Parameter again: Returns the URL at which the user continues if the ticket is refused.
    func question(
        _ form: PageForm, of session: LiveSession, again: (PasskeyOfferQuestion) -> String, now: Date
    ) throws(PageProblem) -> PasskeyOfferQuestion {
        guard let door = SignInDoor(rawValue: try form.value("door")) else { throw .fromElsewhere }
        let question = PasskeyOfferQuestion(
            door: door, request: try form.value("request"), isSignedInForThis: try form.value("recent") == "true")
        let ticket = try form.value("ticket")
        do {
            _ = try tickets.check(ticket, .passkeyOffer, of: session.holder, request: question.sentence, now: now)
        } catch {
            throw PageProblem(error, again: again(question))
        }
        return question
    }

    /// Adds the passkey that the browser has created.
    ///
    /// - Parameter clientName: Returns the name of the client to which the user continues; nil for none.
    /// - Returns: The page with the form again, if the passkey was not added; nil if the user continues.
    func create(
        _ form: PageForm, answering question: PasskeyOfferQuestion, isUpgrade: Bool, for session: LiveSession,
        naming clientName: () async -> DisplayName?, on request: IncomingRequest, now: Date
    ) async throws -> Reply? {
        guard let ceremonies = PasskeyCeremonies(settings.issuer) else { throw NotFoundError() }
        let user = session.user
        func again(_ problem: PasskeyOfferMessage) async throws -> Reply? {
            // The user has not asked for the passkey, so there is nothing to tell.
            guard !isUpgrade else { return nil }
            var page = try await page(question, by: ceremonies, session, clientName: await clientName(), now: now)
            page.problem = request.words(problem)
            return Reply(.badRequest, .page(page))
        }
        // Without a question to the user, only the first passkey is created.
        if isUpgrade, try await !store.passkeys(of: user.id).isEmpty { return nil }
        let passkey: Passkey
        do {
            let userAgent = request.head.headerFields[.userAgent] ?? ""
            passkey = try ceremonies.newPasskey(
                try form.value(SignInForm.passkeyField), answering: try form.value("ticket"), isUpgrade: isUpgrade,
                of: user, naming: { $0 ?? request.words(Device(userAgent: userAgent).text) }, now: now)
        } catch let refusal as CeremonyRefusal {
            await auditor.refuse(.passkey, because: .passkey, request, user: user.id, detail: "\(refusal)", now: now)
            return try await again(.refused)
        }
        let event = try await auditor.event(of: .passkeyAdded, to: user, by: request, now: now)
        switch try await store.addPasskey(passkey, recording: [event]) {
        case .added:
            auditor.countRecorded(event)
            return nil
        case .exists:
            // The form was posted twice.
            let isOwn = try await store.passkeys(of: user.id).contains { $0.digest == passkey.digest }
            return isOwn ? nil : try await again(.exists)
        case .tooMany: return try await again(.tooMany)
        // The session has ended with the account.
        case .userNotActive: return nil
        }
    }
}

/// The errors on the page that offers a passkey.
private enum PasskeyOfferMessage: String, LocalizationKey {
    case refused = "account.passkeys.refused"
    case exists = "account.passkeys.exists"
    case tooMany = "account.passkeys.too-many"
}
