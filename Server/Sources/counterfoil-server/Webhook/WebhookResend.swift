import ArgumentParser
import CounterfoilSQLite
import CounterfoilServer
import CounterfoilStore

struct WebhookResend: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "resend",
        abstract: "Send an event of the last deliveries again.",
        discussion: """
            A running server sends it once within some seconds, also if the webhook is paused or disabled, and with \
            the same webhook-id. The events after it are not sent again; for that, use: counterfoil-server webhook \
            replay

            Example:
              counterfoil-server webhook resend WEBHOOK EVENT --data-dir ./data
            """
    )

    @OptionGroup var existing: WebhookArgument

    @Argument(help: "The identifier of the event, such as evt_…; see: webhook show")
    var event: String

    @OptionGroup var options: AdministrationOptions

    func run() async throws {
        try await options.withInstallation(creating: false) { installation in
            let webhook = try await installation.webhook(existing)
            let deliveries = try await installation.store.webhookDeliveries(
                of: webhook.id, before: nil, limit: Webhook.deliveryLimit)
            guard let delivery = deliveries.first(where: { $0.attempt.eventID == event && !event.isEmpty }) else {
                throw CommandFailure.refused(
                    "none of the last deliveries is of the event \(EscapedText(event)); see: counterfoil-server "
                        + "webhook show --limit \(Webhook.deliveryLimit)")
            }
            switch try await installation.webhookAdministration.resend(delivery.attempt.seal, to: webhook) {
            case .queued: break
            case .notFound: throw CommandFailure.webhookDeleted
            case .queueFull:
                throw CommandFailure.temporary("\(Webhook.resendLimit) events wait to be sent again; try again later")
            }
            if options.json { return try Output.json(["queued": event]) }
            Output.line("Queued \(event). See the result with: counterfoil-server webhook show \(webhook.id)")
        }
    }
}
