import java.io.InputStream;
import java.lang.reflect.Field;
import org.eclipse.jetty.server.Connector;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import software.amazon.dynamodb.services.local.main.ServerRunner;
import software.amazon.dynamodb.services.local.server.DynamoDBProxyServer;

/**
 * Starts DynamoDB Local on loopback, which its own main class cannot do, and ends it when standard input closes:
 * the system closes the pipe however the parent died, so no engine outlives the run that started it.
 */
public final class Launcher {
    public static void main(String[] args) throws Exception {
        Thread watch = new Thread(() -> {
            try {
                InputStream in = System.in;
                while (in.read() >= 0) { }
            } catch (java.io.IOException ended) {
                // A broken pipe means the same as a closed one.
            }
            Runtime.getRuntime().halt(0);
        });
        watch.setDaemon(true);
        watch.start();

        DynamoDBProxyServer proxy = ServerRunner.createServerFromCommandLineArgs(args);
        Field field = DynamoDBProxyServer.class.getDeclaredField("server");
        field.setAccessible(true);
        Server server = (Server) field.get(proxy);
        for (Connector connector : server.getConnectors()) {
            ((ServerConnector) connector).setHost("127.0.0.1");
            // DynamoDB Local refuses -port 0, its server does not: the system picks a free port without a race.
            ((ServerConnector) connector).setPort(Integer.getInteger("onesynth.port", 0));
        }
        proxy.start();
        for (Connector connector : server.getConnectors()) {
            System.out.println("listening " + ((ServerConnector) connector).getLocalPort());
        }
        System.out.flush();
        proxy.join();
    }
}
