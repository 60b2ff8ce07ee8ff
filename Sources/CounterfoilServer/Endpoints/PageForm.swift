import CounterfoilProtocol
import Foundation
import HTTPTypes

/// A form that a page of ours has sent; anything that comes from elsewhere is refused before it is read.
struct PageForm: Sendable {
    private let form: FormParameters

    init(_ request: IncomingRequest, issuer: Issuer) throws(PageProblem) {
        guard Self.isSameOrigin(request.head.headerFields, issuer: issuer) else { throw .fromElsewhere }
        // The pages of an authorization carry its request along, encoded twice.
        do { form = try request.form(byteLimit: Endpoint.consent.bodyLimit) } catch { throw .unreadableForm(error) }
    }

    /// The value of a field, which is empty when it is absent.
    func value(_ name: String) throws(PageProblem) -> String {
        do { return try form.single(name) ?? "" } catch {
            throw .unreadableForm(OAuthError(.invalidRequest, "\(error)"))
        }
    }

    /// The authorization request that the page carries along.
    func carriedRequest() throws -> FormParameters {
        do { return try FormParameters(parsing: try value("request")) } catch let refusal as FormParameters.Refusal {
            throw UnansweredRequest.addressee(.parameters(refusal))
        }
    }

    @discardableResult
    func checkTicket(
        _ purpose: Ticket.Purpose,
        of holder: String,
        with tickets: TicketAuthority,
        now: Date
    ) throws(PageProblem) -> Ticket {
        let text = try value("ticket")
        let request = try value("request")
        do {
            return try tickets.check(text, purpose, of: holder, request: request, now: now)
        } catch {
            switch error {
            case .forged: throw .fromElsewhere
            case .expired: throw .pageExpired
            }
        }
    }

    /// Whether a browser says that a form comes from a page of ours, or says nothing.
    ///
    /// Our pages send no referrer, for which some browsers say `Origin: null`; the ticket, which is bound to a cookie,
    /// decides then.
    private static func isSameOrigin(_ fields: HTTPFields, issuer: Issuer) -> Bool {
        if let name = HTTPField.Name("Sec-Fetch-Site"), let site = fields[name] { return site == "same-origin" }
        guard let origin = fields[.origin], origin != "null" else { return true }
        return origin == issuer.origin
    }
}

/// What can be wrong with a form, for a page.
enum PageProblem: Error {
    case fromElsewhere
    case unreadableForm(OAuthError)
    case pageExpired
    case cookiesMissing
    case noDecision
}
