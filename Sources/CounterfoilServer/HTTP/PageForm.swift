package import CounterfoilProtocol
package import Foundation
import HTTPTypes

/// A form that a page of ours has sent; anything that comes from elsewhere is refused before it is read.
package struct PageForm: Sendable {
    /// The most bytes of a form with a picture: the largest one that is taken, and the other fields.
    static let uploadLimit = LogoEncoder.uploadLimit + 128 * 1024

    private let form: FormParameters
    private let upload: MultipartForm?

    package init(_ request: IncomingRequest, issuer: Issuer) throws(PageProblem) {
        guard Self.isSameOrigin(request.head.headerFields, issuer: issuer) else { throw .fromElsewhere }
        // The pages of an authorization carry its request along, encoded twice.
        do { form = try request.readForm(byteLimit: Endpoint.consent.bodyLimit, pairLimit: 400) } catch {
            throw .unreadableForm(error)
        }
        upload = nil
    }

    /// A form that may hold files.
    package init(
        uploading request: IncomingRequest,
        issuer: Issuer,
        byteLimit: Int = Self.uploadLimit
    ) throws(PageProblem) {
        guard Self.isSameOrigin(request.head.headerFields, issuer: issuer) else { throw .fromElsewhere }
        do {
            let upload = try MultipartForm(request, byteLimit: byteLimit)
            form = upload.fields
            self.upload = upload
        } catch { throw .unreadableForm(.upload(error)) }
    }

    /// The value of a field, which is empty when it is absent.
    package func value(_ name: String) throws(PageProblem) -> String {
        do { return try form.single(name) ?? "" } catch { throw .unreadableForm(.parameters(error)) }
    }

    /// The bytes of a file; nil when none was chosen.
    package func file(_ name: String) throws(PageProblem) -> [UInt8]? {
        do { return try upload?.file(name) } catch { throw .unreadableForm(.upload(error)) }
    }

    /// Every value of a field that may be there more than once.
    package func all(_ name: String) -> [String] { form.all(name) }

    /// The authorization request that the page carries along.
    func carriedRequest() throws -> FormParameters {
        do { return try FormParameters(parsing: try value("request")) } catch let refusal as FormParameters.Refusal {
            throw UnansweredRequest.addressee(.parameters(refusal))
        }
    }

    @discardableResult
    package func checkTicket(
        _ purpose: Ticket.Purpose,
        of holder: String,
        with tickets: TicketAuthority,
        now: Date
    ) throws(PageProblem) -> Ticket {
        let text = try value("ticket")
        let request = try value("request")
        do {
            return try tickets.check(text, purpose, of: holder, request: request, now: now)
        } catch { throw PageProblem(error) }
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
package enum PageProblem: Error {
    case fromElsewhere
    case unreadableForm(UnreadableForm)
    case pageExpired
    case cookiesMissing
    case noDecision

    init(_ refusal: TicketAuthority.Refusal) {
        self =
            switch refusal {
            case .forged: .fromElsewhere
            case .expired: .pageExpired
            }
    }
}
