import CounterfoilServer
import CounterfoilStore
import HTTPTypes

/// `/admin/server/certificate`: the certificate of the server, and the request for a new one if it orders it.
struct CertificateRenewal: Sendable {
    let console: Console

    func show(_ exchange: Console.Exchange) async throws -> Reply {
        guard let reporter = console.reporter else { throw NotFoundError() }
        let words = exchange.words
        let certificate = try await reporter.state(for: exchange.request.context).certificate
        let action = console.path(.certificate)
        let page = CertificatePage(
            console: console.head(exchange, in: .administration), serverPath: console.path(.server),
            authority: certificate?.authority,
            validity: certificate.map { $0.validityText(exchange) } ?? words(SystemMessage.plain),
            isRequested: certificate?.isRenewalRequested == true,
            failed: certificate?.failed.map { failed in
                words(
                    LocalizedText(
                        SystemMessage.failedOrders,
                        [
                            "count": .number(failed.count), "time": .text(words.moment(failed.failedAt)),
                            "next": .text(words.moment(failed.retryAt)),
                        ]))
            }, action: action, ticket: reporter.ordersCertificate ? console.ticket(exchange, for: action) : nil)
        return Reply(.ok, .page(page))
    }

    func request(_ exchange: Console.Exchange) async throws -> Reply {
        guard console.reporter?.ordersCertificate == true else { throw NotFoundError() }
        _ = try console.form(exchange)
        let isNew = try await console.serverAdministration(by: exchange).requestCertificate()
        return .done(isNew ? SystemNotice.requested : .alreadyRequested, at: console.path(.server))
    }
}
