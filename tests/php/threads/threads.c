/* Serves requests in threads, as a server with a ZTS build of PHP does: threads SCRIPT. Three times 16 threads run the
 * script ten times each. The exit status is the number of requests that failed. */
#include <sapi/embed/php_embed.h>

#include <pthread.h>

enum { THREADS = 16, ROUNDS = 3, REQUESTS = 10 };

static const char *script;
static int failed = 0;

static void serve(void) {
  zend_file_handle file;
  zend_stream_init_filename(&file, script);
  const bool started = php_request_startup() == SUCCESS;
  if (!started || !php_execute_script(&file) || EG(exit_status) != 0) __atomic_fetch_add(&failed, 1, __ATOMIC_RELAXED);
  zend_destroy_file_handle(&file);
  if (started) php_request_shutdown(NULL);
}

static void *run(void *unused) {
  ts_resource(0);
  for (int i = 0; i < REQUESTS; ++i) serve();
  ts_free_thread();
  return unused;
}

int main(int count, char **words) {
  script = words[count - 1];
  php_embed_module.php_ini_path_override = getenv("PHPRC");
  if (php_embed_init(count, words) == FAILURE) return 255;
  for (int round = 0; round < ROUNDS; ++round) {
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; ++i)
      if (pthread_create(&threads[i], NULL, run, NULL) != 0) return 255;
    for (int i = 0; i < THREADS; ++i) pthread_join(threads[i], NULL);
  }
  php_embed_shutdown();
  return failed < 255 ? failed : 255;
}
