@_spi(Counterfoil) import CounterfoilProtocol
package import CounterfoilStore
import Crypto
package import Foundation

/// A token that proves that a form comes from a page that this server recently showed in the same browser.
///
/// It protects against cross-site request forgery and is sent in the form field `ticket`. The server stores no
/// tickets. A ticket contains a message authentication code over its purpose, the browser or session, the
/// request that the page belongs to, the identifier of the page, and the expiration time.
package struct Ticket: Sendable {
    /// The kind of page or redirect that contains the ticket.
    package enum Purpose: String, Sendable {
        /// The sign-in page of an authorization.
        case signIn = "sign in"
        /// The consent page of an authorization.
        case consent = "consent"
        /// The page "Continue as …", on which a user with a session confirms the authorization.
        case confirmation = "confirmation"
        /// The redirect from a sign-in back to the authorization endpoint; the ticket in its URL proves the sign-in.
        case signedIn = "signed in"
        /// The page on which the user types the code of a device.
        case deviceCode = "device code"
        /// The sign-in page after the code of a device was typed.
        case deviceSignIn = "device sign in"
        /// The redirect from that sign-in; the ticket in its URL proves that the user typed the code.
        case deviceSignedIn = "device signed in"
        /// The page with the permissions of a device.
        case device = "device"
        /// The redirect from that page to the result; the ticket in its URL proves that the user gave this answer.
        case deviceAnswered = "device answered"
        /// The pages on which a user gets back into the account.
        case recovery = "recovery"
        /// The page that asks the user whether to sign out.
        case signOut = "sign out"
        /// The sign-in page of the console, which belongs to no authorization.
        case consoleSignIn = "console sign in"
        /// The page on which a person asks for an account.
        case signUp = "sign up"
        /// The page to which the link leads, on which the person creates the account.
        case newAccount = "new account"
        /// The page on which a signed-in user accepts the terms of the service.
        case terms = "terms"
        /// The page on which a user who has just signed in with a password can create a passkey.
        case passkeyOffer = "passkey offer"
        /// A page of the console for signed-in users.
        case console = "console"
        /// The question of an operator how the server sees a request (``AddressCheck``).
        case addressCheck = "address check"
    }

    /// The identifier of the shown page, with which the server ensures that the page is answered only once.
    package let interaction: InteractionIdentifier
}

/// Issues a ticket for each page with a form, and verifies the ticket when the form is submitted.
package struct TicketAuthority: Sendable {
    /// The keys of the message authentication codes, derived from the server key.
    let keys: DerivedKeys

    package enum Refusal: Error, Sendable {
        /// The ticket was not issued by this server, or was issued for another browser, session, page or request.
        case forged
        /// The ticket is genuine but has expired; the server may show the form again, but must not act on it.
        case expired(Ticket)
    }

    package func issue(
        _ purpose: Ticket.Purpose,
        to holder: String,
        request: String,
        interaction: InteractionIdentifier,
        expires: Date
    ) -> String {
        let head = Self.head(interaction: interaction, expires: expires)
        return Base64URL.encode(head + mac(purpose, holder: holder, request: request, head: head, keys.current))
    }

    package func check(
        _ text: String?,
        _ purpose: Ticket.Purpose,
        of holder: String,
        request: String,
        now: Date
    ) throws(Refusal) -> Ticket {
        guard let bytes = text.flatMap({ Base64URL.decode($0) }), bytes.count == Self.headLength + SHA256.byteCount
        else {
            throw .forged
        }
        let head = Array(bytes.prefix(Self.headLength))
        guard
            keys.authenticate(
                bytes.suffix(SHA256.byteCount),
                code: { mac(purpose, holder: holder, request: request, head: head, $0) }),
            let interaction = InteractionIdentifier(Base64URL.encode(head.prefix(16)))
        else { throw .forged }
        let expires = head.suffix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        let ticket = Ticket(interaction: interaction)
        guard now.timeIntervalSince1970 < TimeInterval(expires) else { throw .expired(ticket) }
        return ticket
    }

    private static let headLength = 24

    private static func head(interaction: InteractionIdentifier, expires: Date) -> [UInt8] {
        let identifier = Base64URL.decode(interaction.rawValue) ?? []
        let seconds = UInt64(max(0, expires.timeIntervalSince1970))
        return identifier + withUnsafeBytes(of: seconds.bigEndian) { Array($0) }
    }

    private func mac(
        _ purpose: Ticket.Purpose, holder: String, request: String, head: [UInt8], _ key: SymmetricKey
    ) -> [UInt8] {
        var mac = HMAC<SHA256>(key: key)
        for part in [purpose.rawValue, holder, request] {
            let bytes = Array(part.utf8)
            mac.update(data: withUnsafeBytes(of: UInt64(bytes.count).bigEndian) { Array($0) })
            mac.update(data: bytes)
        }
        mac.update(data: head)
        return mac.finalize().copiedBytes
    }
}
