@_spi(Counterfoil) package import CounterfoilProtocol
import Foundation
import HTTPTypes

/// A form that was submitted from a page of this server; a form from another origin is rejected without parsing it.
package struct PageForm: Sendable {
    /// The maximum size of an uploaded file in bytes.
    package static let fileLimit = 512 * 1024
    /// The maximum size of a form with a file in bytes: the largest allowed file and 128 KiB for the other fields.
    static let uploadLimit = fileLimit + 128 * 1024

    private let form: FormParameters
    private let upload: MultipartForm?

    package init(_ request: IncomingRequest, issuer: Issuer) throws(PageProblem) {
        guard Self.isSameOrigin(request.head.headerFields, issuer: issuer) else { throw .fromElsewhere }
        // The form of an authorization page contains the whole authorization request in one field. The parameters of
        // the request are thus form-encoded twice, so these limits are higher than the default limits.
        do {
            form = try request.readForm(byteLimit: Endpoint.consent.bodyLimit, pairLimit: 400)
        } catch {
            throw .unreadableForm(error)
        }
        upload = nil
    }

    /// Reads a form of type `multipart/form-data`, which may contain files.
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

    /// Returns the value of a text field; empty if the field is absent.
    package func value(_ name: String) throws(PageProblem) -> String {
        do {
            return try form.single(name) ?? ""
        } catch {
            throw .unreadableForm(.parameters(error))
        }
    }

    /// Returns the content of the file in a field; nil if the user chose no file.
    package func file(_ name: String) throws(PageProblem) -> [UInt8]? {
        do {
            return try upload?.file(name)
        } catch {
            throw .unreadableForm(.upload(error))
        }
    }

    /// Returns all values of a text field that may occur more than once.
    package func all(_ name: String) -> [String] { form.all(name) }

    /// Checks the ticket of the form.
    ///
    /// - Parameter again: The URL at which the user can open the page again, if the ticket is refused.
    func checkTicket(
        _ purpose: Ticket.Purpose,
        of holder: String,
        with tickets: TicketAuthority,
        again: String,
        now: Date
    ) throws(PageProblem) {
        let text = try value("ticket")
        let request = try value("request")
        do {
            _ = try tickets.check(text, purpose, of: holder, request: request, now: now)
        } catch { throw PageProblem(error, again: again) }
    }

    /// Returns true if the form comes from a page of this origin, or if the browser does not report the origin.
    ///
    /// The origin is in `Sec-Fetch-Site` or `Origin`. The pages of this server send no referrer, so some browsers
    /// send `Origin: null`. If the origin is unknown, the form is still protected by its ticket, which is bound to
    /// a cookie.
    private static func isSameOrigin(_ fields: HTTPFields, issuer: Issuer) -> Bool {
        if let name = HTTPField.Name("Sec-Fetch-Site"), let site = fields[name] { return site == "same-origin" }
        guard let origin = fields[.origin], origin != "null" else { return true }
        return origin == issuer.origin
    }
}

/// The reason why a submitted form is rejected; the user gets an error page.
///
/// A form of this origin usually comes from its user, even if its ticket is refused. So the error page then has a
/// button to the URL in `again`.
package enum PageProblem: Error {
    /// The browser says that the form comes from another origin.
    case fromElsewhere
    case unreadableForm(UnreadableForm)
    /// The ticket is not that of this page for the session of the request, or before the sign-in for the browser.
    case pageOutdated(again: String)
    case pageExpired(again: String)
    case cookiesMissing(again: String)
    case noDecision

    init(_ refusal: TicketAuthority.Refusal, again: String) {
        self =
            switch refusal {
            case .forged: .pageOutdated(again: again)
            case .expired: .pageExpired(again: again)
            }
    }
}
