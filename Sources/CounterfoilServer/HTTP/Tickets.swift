import CounterfoilProtocol
import Crypto
package import Foundation

/// The proof that a form came from a page of ours, shown to this browser, for this request, a short while ago.
///
/// Wire name `ticket`. Nothing is stored: the ticket is a message authentication code over what it is for.
package struct Ticket: Sendable {
    /// Which page it stands on.
    package enum Purpose: String, Sendable {
        /// The sign-in page.
        case signIn = "sign in"
        /// The consent page.
        case consent = "consent"
        /// The page on which a sign-in is confirmed.
        case confirmation = "confirmation"
        /// The way from the sign-in page to the consent page.
        case signedIn = "signed in"
        /// The page that asks whether to sign out.
        case signOut = "sign out"
        /// The sign-in page of the console.
        case consoleSignIn = "console sign in"
        /// A page of the console.
        case console = "console"
    }

    /// The page of which it is the one answer.
    package let interaction: InteractionIdentifier
}

/// Makes and checks tickets.
package struct TicketAuthority: Sendable {
    /// The key, derived from the server's own.
    let key: SymmetricKey

    /// Why a ticket is worth nothing.
    package enum Refusal: Error, Sendable {
        /// It is none of ours, or of another browser or request.
        case forged
        /// It was ours, and its time is over; a form that changes nothing may still be shown again.
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
        return Base64URL.encode(head + mac(purpose, holder: holder, request: request, head: head))
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
            ConstantTime.equals(
                bytes.suffix(SHA256.byteCount), mac(purpose, holder: holder, request: request, head: head)),
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

    private func mac(_ purpose: Ticket.Purpose, holder: String, request: String, head: [UInt8]) -> [UInt8] {
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
